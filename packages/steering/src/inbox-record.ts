import type { Message, RunStatus } from '@lamella/core'

/** A message that has joined the run. */
export interface Delivered {
  readonly type: 'delivered'
  /** Id of the message. */
  readonly id: string
  /** Id of the run that took it in. */
  readonly runId: string
  /** Iteration of the run at whose boundary it was added, from 0. */
  readonly iteration: number
  /** True if a guardrail changed it before the model could read it. */
  readonly edited: boolean
}

/**
 * Causes for a message not to join the run: the run had `ended` or ended first, is `paused` for an answer; a guardrail
 * `rejected` it; the inbox was `full`; the message or its id is `invalid`; its sender has `withdrawn` it. After
 * `unknown`, the store has failed, and the same id tells later.
 */
export type NotDeliveredReason =
  | 'ended'
  | 'full'
  | 'invalid'
  | 'paused'
  | 'rejected'
  | 'unknown'
  | 'withdrawn'

/** A message that did not join the run. */
export interface NotDelivered {
  readonly type: 'not-delivered'
  /** Id of the message. */
  readonly id: string
  /** The cause. */
  readonly reason: NotDeliveredReason
  /** Status of the run, for `ended`; `failed` and `aborted` for a run without a response. */
  readonly status?: RunStatus | 'aborted' | 'failed' | undefined
  /** Code of the error, for `rejected` and `invalid`. */
  readonly code?: string | undefined
}

/** Fate of a message. */
export type Delivery = Delivered | NotDelivered

/** A message that waits in an inbox. */
export interface InboxMessage {
  /** Id of the message. */
  readonly id: string
  /** `steer` joins at the next step, `queue` after the answer. */
  readonly kind: 'queue' | 'steer'
  /** The message, as the conversation gets it. */
  readonly message: Message
  /** True while a run takes it in. */
  readonly taken?: true
}

/** The state of an inbox, as its store has it. */
export interface InboxRecord {
  /** Id of the run that reads it. */
  readonly run?: string
  readonly state: 'ended' | 'new' | 'open' | 'paused'
  readonly status?: NotDelivered['status']
  readonly waiting: readonly InboxMessage[]
  /** The last outcomes, for repeated ids. */
  readonly outcomes: readonly Delivery[]
}

export const emptyRecord: InboxRecord = { state: 'new', waiting: [], outcomes: [] }

/** Outcomes that a record keeps. */
const mostOutcomes = 100

export function outcomeIn({ outcomes }: InboxRecord, id: string): Delivery | undefined {
  return outcomes.find((entry) => entry.id === id)
}

/** Returns true if the message with this id waits or has an outcome. */
export function isKnown(record: InboxRecord, id: string): boolean {
  return outcomeIn(record, id) !== undefined || record.waiting.some((entry) => entry.id === id)
}

/** Says why an inbox takes no new message now. A refusal leaves no trace, so the same id may try again. */
export function refusalIn(
  { state, status, waiting }: InboxRecord,
  maxWaiting: number,
): Pick<NotDelivered, 'reason' | 'status'> | undefined {
  if (state === 'ended') return { reason: 'ended', status }
  if (state === 'paused') return { reason: 'paused' }
  return waiting.length >= maxWaiting ? { reason: 'full' } : undefined
}

/** Gives a message its outcome. The first one counts. */
export function withOutcome(record: InboxRecord, outcome: Delivery): InboxRecord {
  const { waiting, outcomes } = record
  const isFirst = outcomeIn(record, outcome.id) === undefined
  return {
    ...record,
    waiting: waiting.filter(({ id }) => id !== outcome.id),
    outcomes: isFirst ? [...outcomes, outcome].slice(-mostOutcomes) : outcomes,
  }
}

/** Takes a message back that no run has taken in. */
export function withdraw(record: InboxRecord, id: string): InboxRecord {
  const isFree = record.waiting.some((entry) => entry.id === id && entry.taken === undefined)
  return isFree ? withOutcome(record, { type: 'not-delivered', id, reason: 'withdrawn' }) : record
}

/**
 * Opens an inbox for a run, with what the run's checkpoint had waiting. What a run took that has not closed it,
 * because its process ended, is free again.
 */
export function opened(
  record: InboxRecord,
  run: string,
  restored: readonly InboxMessage[],
): InboxRecord {
  const known = new Set([...record.waiting, ...record.outcomes].map(({ id }) => id))
  const free = record.waiting.map(({ id, kind, message }) => ({ id, kind, message }))
  return {
    run,
    state: 'open',
    waiting: [...restored.filter(({ id }) => !known.has(id)), ...free],
    outcomes: record.outcomes,
  }
}

/** Takes the messages of a kind, at most `count`, for the run that the inbox belongs to. */
export function taken(
  record: InboxRecord,
  run: string,
  kind: InboxMessage['kind'],
  count: number,
): { readonly record: InboxRecord; readonly messages: readonly InboxMessage[] } {
  const { waiting } = record
  const isMine = record.run === run
  const messages = isMine ? waiting.filter((entry) => entry.kind === kind).slice(0, count) : []
  if (messages.length === 0) return { record, messages }
  const marked = waiting.map((entry) =>
    messages.includes(entry) ? { ...entry, taken: true as const } : entry,
  )
  return { record: { ...record, waiting: marked }, messages }
}

/** Closes an inbox after its run. Messages that still wait are kept through a pause, and end with the run. */
export function closed(
  record: InboxRecord,
  run: string,
  status: NonNullable<NotDelivered['status']>,
): InboxRecord {
  if (record.run !== run) return record
  const { waiting } = record
  if (status === 'paused') return { ...record, state: 'paused' }
  return waiting.reduce<InboxRecord>(
    (rest, { id }) => withOutcome(rest, { type: 'not-delivered', id, reason: 'ended', status }),
    { ...record, state: 'ended', status },
  )
}
