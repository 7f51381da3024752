export { injectionAssessor } from './assess/assess-text.ts'
export type { AssessOptions, InjectionAssessment } from './assess/assess-text.ts'
export type { InjectionMatch } from './assess/hidden-text.ts'
export type { InjectionCategory } from './signals/injection-signal.ts'
export type { ExfiltrationOptions } from './outgoing/judge-output.ts'
export { promptInjection } from './prompt-injection.ts'
export type {
  InjectionAction,
  InjectionClassifier,
  InjectionClassify,
  InjectionStage,
  PromptInjectionOptions,
} from './prompt-injection-options.ts'
export type { Spotlighting } from './incoming/spotlight.ts'
export type { TaintOptions } from './taint.ts'
