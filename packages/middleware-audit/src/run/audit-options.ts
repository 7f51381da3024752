import type { AgentContext, ChatContext, FunctionInvocationContext } from '@lamella/core'
import type { Clock, MiddlewareOptions } from '@lamella/core/authoring'
import { checkOptions, middlewareRules, wrongOption } from '@lamella/core/authoring'
import type { AuditSigning } from '../record/audit-signature.ts'
import { canSign } from '../record/audit-signature.ts'
import type { AuditSinkInput } from '../sinks/audit-sink.ts'

export type AuditedContext = AgentContext | ChatContext | FunctionInvocationContext

/** How content is recorded. */
export type CaptureMode = 'none' | 'hash' | 'redacted' | 'full'

export interface AuditCapture {
  /** Messages that a run or a model call begins with. @default 'hash' */
  readonly input?: CaptureMode | undefined
  /** Answers. @default 'hash' */
  readonly output?: CaptureMode | undefined
  /** @default 'hash' */
  readonly instructions?: CaptureMode | undefined
  /** Of tool calls, also of those that wait for an approval. @default 'hash' */
  readonly arguments?: CaptureMode | undefined
  /** Of tool calls. @default 'hash' */
  readonly results?: CaptureMode | undefined
  /** Messages of errors, and reasons for which a run was ended. @default 'none' */
  readonly errors?: CaptureMode | undefined
}

/** What the log tells of itself. */
export interface AuditEvent {
  /** A write failed and will be tried again, a wait was given up, or records were lost. */
  readonly status: 'failed' | 'late' | 'dropped'
  readonly sink?: string | undefined
  readonly error?: unknown
  /** Records that wait to be written. */
  readonly waiting: number
}

export interface AuditLogOptions extends MiddlewareOptions<AuditedContext, AuditEvent> {
  /** Where records go: `jsonLines(path)`, `toLogger(pino)`, a function, or a sink of your own. */
  readonly sinks: AuditSinkInput | readonly AuditSinkInput[]
  /** How content is recorded, by kind. */
  readonly capture?: AuditCapture | undefined
  /** Changes each text that is `redacted`. If it throws, that text is left out. */
  readonly redact?: ((text: string) => string) | undefined
  /**
   * Makes hashes of content that nobody without the key can try texts against; a function is told the
   * subject, so that one subject's key can be destroyed.
   * @default none: hashes are salted, but short texts can be guessed
   */
  readonly hashKey?:
    | string
    | Uint8Array
    | ((subject: string | undefined) => string | Uint8Array)
    | undefined
  /** Signs each record. Without it, who can rewrite the whole log can forge it. */
  readonly sign?: AuditSigning | undefined
  /** Whom a run is about or for: recorded with each of its lines. */
  readonly subject?: ((context: AuditedContext) => string | undefined) | undefined
  /** Versions of guardrails and policies by name, recorded with the run and with their verdicts. */
  readonly versions?: Readonly<Record<string, string>> | undefined
  /**
   * Types of run events that are recorded as decisions, with their plain values.
   * @default those of Lamella's middlewares, none of which carries content
   */
  readonly decisions?: readonly string[] | undefined
  /**
   * What is recorded besides runs.
   * @default ['model', 'tool', 'approval', 'decision']
   */
  readonly records?: readonly ('model' | 'tool' | 'approval' | 'decision')[] | undefined
  /**
   * `await` waits until each record is written, `batch` writes several at a time and waits at the end of
   * each run.
   * @default 'batch', and 'await' where a failure closes
   */
  readonly delivery?: 'await' | 'batch' | undefined
  /** The most records of one write. @default 100 */
  readonly batchSize?: number | undefined
  /** Milliseconds that a record waits for others. @default 1000 */
  readonly batchDelayMs?: number | undefined
  /** Records that may wait; then runs wait until there are fewer. @default 10000 */
  readonly maxQueued?: number | undefined
  /** Milliseconds that a run waits for sinks at one time. @default 5000 */
  readonly waitMs?: number | undefined
  /**
   * Takes what remains to be written at the end of a run, which then does not wait for it: for
   * platforms that would stop the process.
   */
  readonly waitUntil?: ((written: Promise<void>) => void) | undefined
  /**
   * What a run does that cannot be recorded: it goes on, or fails with `audit_failed`.
   * @default 'open'
   */
  readonly onError?: 'open' | 'closed' | undefined
  /** @default the machine's; times in the log are its milliseconds since 1970 */
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
    waitMs: 1,
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
