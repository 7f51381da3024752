export interface SemanticOptions {
  readonly todo?: never
}
