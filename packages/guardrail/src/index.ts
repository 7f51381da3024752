export type { CheckContext, GuardrailContext } from './check-scope.ts'
export type { GuardrailEvent, GuardrailCheckOptions } from './guardrail-check.ts'
export { guardrail } from './guardrail.ts'
export type { GuardrailMiddleware } from './guardrail.ts'
export { guardrailOptions, guardrailCheckRules } from './guardrail-options.ts'
export type { GuardrailOptions, GuardrailStreamOptions } from './guardrail-options.ts'
export { strictest } from './scan-options.ts'
export type { JudgedPart, ReadAs, ReleasePolicy, ScanOptions, ScanWindow } from './scan-options.ts'
export { holdBackGate } from './hold-back-gate.ts'
export type { HoldBackOptions, TextJoint } from './hold-back-gate.ts'
export type {
  GuardrailStage,
  GuardrailStatus,
  GuardrailSubject,
  TextEdit,
  Verdict,
} from './verdict.ts'
