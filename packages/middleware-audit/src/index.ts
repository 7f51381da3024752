export { auditLog } from './audit-log.ts'
export type { AuditLog } from './audit-log.ts'
export type {
  AuditCapture,
  AuditedContext,
  AuditEvent,
  AuditLogOptions,
  CaptureMode,
} from './run/audit-options.ts'
export type {
  AuditEntry,
  AuditFacts,
  AuditHead,
  AuditRecord,
  AuditSignature,
  AuditType,
} from './record/audit-record.ts'
export type { AuditKey, AuditSigning } from './record/audit-signature.ts'
export { toLogger } from './sinks/audit-sink.ts'
export type { AuditLogger, AuditOpening, AuditSink, AuditSinkInput } from './sinks/audit-sink.ts'
export { contentDigest } from './run/captured-content.ts'
export type { ContentDigest } from './run/captured-content.ts'
export { jsonLines } from './sinks/json-lines.ts'
export type { JsonLinesOptions } from './sinks/json-lines.ts'
export { verify } from './verify/verify.ts'
export type { AuditProblem, AuditSource, Verification, VerifyOptions } from './verify/verify.ts'
