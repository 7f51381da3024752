import type { AgentContext, ChatContext, FunctionInvocationContext } from '@lamella/core'
import type { Clock, MiddlewareOptions } from '@lamella/core/authoring'
import { checkOptions, middlewareRules, wrongOption } from '@lamella/core/authoring'
import type { AuditSigning } from '../record/audit-signature.ts'
import { canSign } from '../record/audit-signature.ts'
import type { AuditSinkInput } from '../sinks/audit-sink.ts'

/** Context of a record: of a run, a model call or a tool call. */
export type AuditedContext = AgentContext | ChatContext | FunctionInvocationContext

/** Recording of content: not at all, as a hash, changed by `redact`, or in full. */
export type CaptureMode = 'none' | 'hash' | 'redacted' | 'full'

/** Recording of content by its kind. */
export interface AuditCapture {
  /** Input messages of a run or a model call. @default 'hash' */
  readonly input?: CaptureMode | undefined
  /** Answers. @default 'hash' */
  readonly output?: CaptureMode | undefined
  /** Instructions of the agent. @default 'hash' */
  readonly instructions?: CaptureMode | undefined
  /** Arguments of tool calls, also of those that wait for an approval. @default 'hash' */
  readonly arguments?: CaptureMode | undefined
  /** Results of tool calls. @default 'hash' */
  readonly results?: CaptureMode | undefined
  /** Messages of errors and reasons for ending a run. @default 'none' */
  readonly errors?: CaptureMode | undefined
}

/** Report of a problem of the log itself. */
export interface AuditEvent {
  /** `failed`: a write failed and is retried; `late`: a run stopped waiting; `dropped`: records were lost. */
  readonly status: 'failed' | 'late' | 'dropped'
  /** Name of the sink. Undefined if no single sink is at fault. */
  readonly sink?: string | undefined
  /** Cause of the problem, if there is one. */
  readonly error?: unknown
  /** Number of records that wait to be written. */
  readonly waiting: number
}

/** Options of {@link auditLog}. */
export interface AuditLogOptions extends MiddlewareOptions<AuditedContext, AuditEvent> {
  /** Destinations of the records: `jsonLines(path)`, `toLogger(pino)`, a function, or a sink of your own. */
  readonly sinks: AuditSinkInput | readonly AuditSinkInput[]
  /** Recording of content by its kind. @default hashes, and nothing of errors */
  readonly capture?: AuditCapture | undefined
  /** Changes each text with capture mode `redacted`. A text for which it throws is left out. @default none */
  readonly redact?: ((text: string) => string) | undefined
  /**
   * Key for hashes of content: nobody can guess a text without it. A function returns the key of a subject,
   * so that a single subject's key can be destroyed.
   * @default none: hashes have a salt, but short texts can be guessed
   */
  readonly hashKey?:
    | string
    | Uint8Array
    | ((subject: string | undefined) => string | Uint8Array)
    | undefined
  /** Signs each record. Without it, a person who can rewrite the whole log can forge it. @default none */
  readonly sign?: AuditSigning | undefined
  /** Returns the person that a run concerns, recorded in each of its lines. @default none */
  readonly subject?: ((context: AuditedContext) => string | undefined) | undefined
  /** Versions of guardrails and policies by name, recorded with the run and with their verdicts. @default none */
  readonly versions?: Readonly<Record<string, string>> | undefined
  /**
   * Types of run events that are recorded as decisions, with their plain values.
   * @default the events of Lamella's middleware, none of which carries content
   */
  readonly decisions?: readonly string[] | undefined
  /**
   * Subjects that are recorded besides runs.
   * @default ['model', 'tool', 'approval', 'decision']
   */
  readonly records?: readonly ('model' | 'tool' | 'approval' | 'decision')[] | undefined
  /**
   * `await` waits until each record is written; `batch` writes several at a time and waits at the end of
   * each run.
   * @default 'batch', and 'await' with `onError: 'closed'`
   */
  readonly delivery?: 'await' | 'batch' | undefined
  /** Maximum number of records in one write. @default 100 */
  readonly batchSize?: number | undefined
  /** Time in milliseconds that a record waits for others. @default 1000 */
  readonly batchDelayMs?: number | undefined
  /** Maximum number of waiting records. Beyond it, runs wait. @default 10000 */
  readonly maxQueued?: number | undefined
  /** Maximum time in milliseconds that a run waits for sinks at once. @default 5000 */
  readonly waitMs?: number | undefined
  /**
   * Receives the promise of the remaining writes at the end of a run, which then does not wait: for
   * platforms that would stop the process.
   * @default none: the run waits
   */
  readonly waitUntil?: ((written: Promise<void>) => void) | undefined
  /**
   * A run that cannot be recorded continues (`open`) or fails with `audit_failed` (`closed`).
   * @default 'open'
   */
  readonly onError?: 'open' | 'closed' | undefined
  /** Clock of the log, in milliseconds since 1970. @default the machine's */
  readonly clock?: Clock | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkAuditOptions(options: AuditLogOptions): void {
  const modes = ['none', 'hash', 'redacted', 'full']
  checkOptions('auditLog', options, {
    ...middlewareRules,
    sinks: 'any',
    capture: {
      input: modes,
      output: modes,
      instructions: modes,
      arguments: modes,
      results: modes,
      errors: modes,
    },
    redact: 'function?',
    hashKey: 'any',
    sign: 'any',
    subject: 'function?',
    versions: 'any',
    decisions: 'any',
    records: 'any',
    delivery: ['await', 'batch'],
    batchSize: 1,
    batchDelayMs: 0,
    maxQueued: 1,
    waitMs: 'ms',
    waitUntil: 'function?',
    onError: ['open', 'closed'],
    clock: 'any',
  })
  for (const record of options.records ?? []) {
    checkOptions(
      'auditLog',
      { records: record },
      { records: ['model', 'tool', 'approval', 'decision'] },
    )
  }
  const { sinks, redact, capture = {}, sign, hashKey } = options
  const list: readonly unknown[] = Array.isArray(sinks) ? sinks : [sinks]
  const isSink = (sink: unknown): boolean =>
    typeof sink === 'function' || typeof (sink as { write?: unknown } | null)?.write === 'function'
  if (list.length === 0 || !list.every(isSink)) {
    throw wrongOption('auditLog', 'sinks', 'at least one sink or function', sinks)
  }
  const redacted = Object.entries(capture).find(([, mode]) => mode === 'redacted')
  if (redacted !== undefined && redact === undefined) {
    throw wrongOption('auditLog', 'redact', `a function, for capture.${redacted[0]}`, redact)
  }
  // A key is never part of a message.
  if (sign !== undefined && !(typeof sign?.keyId === 'string' && canSign(sign.key))) {
    throw new TypeError('auditLog: `sign` must have a `keyId`, and a `key` that can sign')
  }
  if (hashKey !== undefined && typeof hashKey !== 'function' && !(hashKey.length > 0)) {
    throw new TypeError('auditLog: `hashKey` must not be empty')
  }
}
