export { auditLog } from './audit-log.ts'
export type { AuditLog } from './audit-log.ts'
export type {
  AuditCapture,
  AuditedContext,
  AuditEvent,
  AuditLogOptions,
  CaptureMode,
} from './audit-options.ts'
export type {
  AuditEntry,
  AuditFacts,
  AuditHead,
  AuditRecord,
  AuditSignature,
  AuditType,
} from './audit-record.ts'
export type { AuditKey, AuditSigning } from './audit-signature.ts'
export { toLogger } from './audit-sink.ts'
export type { AuditLogger, AuditOpening, AuditSink, AuditSinkInput } from './audit-sink.ts'
export { contentDigest } from './captured-content.ts'
export type { ContentDigest } from './captured-content.ts'
export { jsonLines } from './json-lines.ts'
export type { JsonLinesOptions } from './json-lines.ts'
export { verify } from './verify.ts'
export type { AuditProblem, AuditSource, Verification, VerifyOptions } from './verify.ts'
