export { injectionAssessor } from './assess-text.ts'
export type { AssessOptions, InjectionAssessment } from './assess-text.ts'
export type { InjectionMatch } from './hidden-text.ts'
export type { InjectionCategory } from './injection-signal.ts'
export type { ExfiltrationOptions } from './judge-output.ts'
export { promptInjection } from './prompt-injection.ts'
export type {
  InjectionAction,
  InjectionClassifier,
  InjectionStage,
  PromptInjectionOptions,
} from './prompt-injection-options.ts'
export type { Spotlighting } from './spotlight.ts'
export type { TaintOptions } from './taint.ts'
