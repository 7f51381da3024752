/** Owner of what is kept, such as a run: nobody else finds it. */
export interface KeyOwner {
  /** Tenant that it is kept for. @default none */
  readonly tenant?: string | undefined
  /** User that it is kept for. @default none */
  readonly principal?: string | undefined
}

/**
 * Builds the key of a store from its parts. Different owners and parts never share a key, whatever
 * they contain. Pass `{}` for what all share.
 * @example
 * keyOf('drafts:', context.run, 'letter') // 'drafts:["acme","ada","letter"]'
 */
export function keyOf(
  prefix: string,
  { tenant, principal }: KeyOwner,
  ...parts: readonly (string | number | undefined)[]
): string {
  return prefix + JSON.stringify([tenant, principal, ...parts].map((part) => part ?? null))
}
