export type { CaseSource, EvaluationCase, RecordedToolResult } from './cases/evaluation-case.ts'
export { casesFromAudit } from './cases/cases-from-audit.ts'
export { casesFromLines } from './cases/cases-from-lines.ts'
export { casesFromRecordings } from './cases/cases-from-recordings.ts'
export { casesFromShadow } from './cases/cases-from-shadow.ts'
export type { GatheredCases, Texts } from './cases/gathered-cases.ts'
export type { EvaluatedRun, EvaluatedToolCall } from './runs/evaluated-run.ts'
export type { CaseRunOptions } from './runs/run-case.ts'
export type { RunRecord, RunRecords } from './runs/run-record.ts'
export { replayedTools, toolEmulator } from './runs/tool-source.ts'
export type { ToolEmulatorOptions, ToolSource } from './runs/tool-source.ts'
export { modelUser } from './runs/user.ts'
export type { ModelUserOptions, User } from './runs/user.ts'
export {
  argumentsMatch,
  blockedBy,
  calledInOrder,
  calledTool,
  check,
  costAtMost,
  includes,
  latencyAtMost,
  matches,
  noToolErrors,
  notCalledTool,
  statusIs,
} from './checks/check.ts'
export type { Check, CheckResult, Given } from './checks/check.ts'
export { judged, rate, score, similarity } from './checks/score.ts'
export type { JudgedOptions, Score, ScoreOptions, SimilarityOptions } from './checks/score.ts'
export { assertPassed, evaluationMatchers } from './evaluation/assert-passed.ts'
export { compareClients } from './evaluation/compare-clients.ts'
export type { ClientComparison, CompareClientsOptions } from './evaluation/compare-clients.ts'
export { evaluate } from './evaluation/evaluate.ts'
export type { EvaluateOptions, EvaluationBudget } from './evaluation/evaluate.ts'
export type {
  CaseSummary,
  CheckSummary,
  Evaluation,
  Latency,
  ScoreComparison,
  ScoreSummary,
  Verdict,
} from './evaluation/evaluation.ts'
export { tableOf } from './evaluation/table-of.ts'
export { evaluateGuardrail } from './guardrails/evaluate-guardrail.ts'
export type {
  EvaluateGuardrailOptions,
  GuardrailEvaluation,
  GuardrailLatency,
} from './guardrails/evaluate-guardrail.ts'
export { readTruth } from './guardrails/labelled-line.ts'
export type { LabelledLine, LabelledSpan, Prediction, Truth } from './guardrails/labelled-line.ts'
export { predictWith } from './guardrails/predict-with.ts'
export type { PredictWithOptions } from './guardrails/predict-with.ts'
export type { Figures } from './guardrails/score-predictions.ts'
export { junitOf } from './report/junit-of.ts'
export { reportOf } from './report/report-of.ts'
export type { ReportedEvaluation } from './report/report-of.ts'
export { summaryOf } from './report/summary-of.ts'
