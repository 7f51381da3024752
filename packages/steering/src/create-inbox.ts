import type {
  AgentMiddleware,
  KeyValueStore,
  Message,
  RunContext,
  UserInputOptions,
} from '@lamella/core'
import type { IterationContext } from '@lamella/core/authoring'
import {
  defineState,
  jsonSchema,
  LamellaError,
  memoryStore,
  MiddlewareContractError,
  userInput,
} from '@lamella/core'
import {
  canonicalJson,
  checkOptions,
  createSecretId,
  interceptLoop,
  wrongOption,
} from '@lamella/core/authoring'
import type {
  Delivered,
  Delivery,
  InboxMessage,
  InboxRecord,
  NotDelivered,
} from './inbox-record.ts'
import {
  closed,
  isKnown,
  opened,
  outcomeIn,
  refusalIn,
  taken,
  withdraw,
  withOutcome,
} from './inbox-record.ts'
import { InboxPlace } from './inbox-place.ts'

/** Options of `createInbox`. */
export interface InboxOptions {
  /**
   * Store of the messages, so that other processes can send some with an inbox of the same `id` and owner.
   * @default the memory of this process
   */
  readonly store?: KeyValueStore | undefined
  /** Name of the inbox in the store, such as the id of the chat. Required with a `store`. */
  readonly id?: string | undefined
  /** Tenant of the runs that may read it. @default none; without a `store`, any */
  readonly tenant?: string | undefined
  /** User of the runs that may read it. @default none; without a `store`, any */
  readonly principal?: string | undefined
  /** Most messages that may wait. Further ones are not delivered, with the reason `full`. @default 10 */
  readonly maxWaiting?: number | undefined
  /** Limits of one message: characters, parts and bytes of files. @default those of `userInput` */
  readonly input?: UserInputOptions | undefined
  /** Milliseconds for which the store keeps the messages after the last change. @default 86400000 */
  readonly ttlMs?: number | undefined
  /** Milliseconds between two reads of a sender that waits, in a store without `signals`. @default 500 */
  readonly pollMs?: number | undefined
  /** Name of the middleware. @default 'steering' */
  readonly name?: string | undefined
  /** Receives the fate of each message, without its text. @default none */
  readonly onEvent?: ((event: InboxEvent) => void) | undefined
}

/** Fate of a message in a run, without its text. */
export type InboxEvent = Delivery & {
  /** `steer` or `queue`. */
  readonly kind: InboxMessage['kind']
}

/** Options of one message. */
export interface MessageToRun {
  /**
   * Id of the message, 1 to 200 characters. A message with an id that waits or has waited is not added again; it gets
   * the first outcome.
   * @default a new one
   */
  readonly id?: string | undefined
  /** Takes the message back if no run has taken it in. @default never */
  readonly signal?: AbortSignal | undefined
}

/** Messages for a running agent. It is middleware of that run. */
export interface Inbox extends AgentMiddleware {
  /**
   * Adds a message at the next step, after the tools of the current one. Resolves when that has happened, or
   * cannot happen any more; never rejects.
   */
  steer(message: unknown, options?: MessageToRun): Promise<Delivery>
  /** Adds a message after the answer, as the next task; one for each answer. Never rejects. */
  queue(message: unknown, options?: MessageToRun): Promise<Delivery>
  /** Returns the messages that wait, in order. */
  waiting(): Promise<readonly InboxMessage[]>
}

/**
 * Creates an inbox: middleware for one run at a time, through which users talk to it while it works. What they say
 * passes the guardrails of the run like its input.
 * @throws TypeError or RangeError that names the option and the value
 *
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { createInbox } from '@lamella/steering'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const agent = new Agent({ client: scriptedClient(['Paris.', 'Rome.']) })
 * const inbox = createInbox()
 * const delivery = inbox.queue('And of Italy?')
 * const { text } = await agent.run('The capital of France?', { middleware: inbox })
 * console.log(text, (await delivery).type) // Paris.Rome. delivered
 * ```
 */
export function createInbox(options: InboxOptions = {}): Inbox {
  checkOptions('createInbox', options, {
    store: 'any',
    id: 'string?',
    tenant: 'string?',
    principal: 'string?',
    maxWaiting: 1,
    input: 'any',
    ttlMs: 1,
    pollMs: 1,
    name: 'string?',
    onEvent: 'function?',
  })
  if (options.store !== undefined && options.id === undefined) {
    throw wrongOption('createInbox', 'id', 'the name of the inbox in the `store`', options.id)
  }
  const { name = 'steering' } = options
  const inbox = new RunInbox(options, name)
  return {
    level: 'agent',
    name,
    role: 'steering',
    process: ({ run }, callNext) => inbox.process(run, callNext),
    steer: (message, given) => inbox.send('steer', message, given),
    queue: (message, given) => inbox.send('queue', message, given),
    waiting: () => inbox.waiting(),
  }
}

/** Messages that wait, for checkpoints. */
const kept = defineState<InboxMessage[]>({
  name: 'steering',
  initial: () => [],
  schema: jsonSchema<InboxMessage[]>({
    type: 'array',
    items: {
      type: 'object',
      required: ['id', 'kind', 'message'],
      properties: {
        id: { type: 'string' },
        kind: { enum: ['queue', 'steer'] },
        message: { type: 'object' },
      },
    },
  }),
})

class RunInbox {
  readonly #options: InboxOptions
  readonly #name: string
  readonly #place: InboxPlace
  /** The run of this process that reads it. */
  #run: RunContext | undefined
  /** True once the record belongs to that run. */
  #isOpen = false
  /** Messages that are in its conversation, whatever the store knows of them. */
  #added: Delivered[] = []

  constructor(options: InboxOptions, name: string) {
    this.#options = options
    this.#name = name
    const { store = memoryStore(), id = 'inbox', ttlMs = 86_400_000 } = options
    const { tenant, principal, pollMs } = options
    this.#place = new InboxPlace({ store, id, tenant, principal, ttlMs, pollMs })
  }

  async send(
    kind: InboxMessage['kind'],
    given: unknown,
    { id = createSecretId('in'), signal }: MessageToRun = {},
  ): Promise<Delivery> {
    const { maxWaiting = 10, input } = this.#options
    let message: Message
    try {
      checkId(id)
      message = { ...userInput(given, input), id }
    } catch (error) {
      return { type: 'not-delivered', id, reason: 'invalid', code: codeOf(error) }
    }
    try {
      let refusal: ReturnType<typeof refusalIn>
      await this.#change((record) => {
        refusal = isKnown(record, id) ? undefined : refusalIn(record, maxWaiting)
        if (refusal !== undefined || isKnown(record, id)) return record
        return { ...record, waiting: [...record.waiting, { id, kind, message }] }
      })
      if (refusal !== undefined)
        return { type: 'not-delivered', id, ...(refusal as object) } as Delivery
      return await this.#place.outcome(id, signal).catch(async (error: unknown) => {
        if (signal?.aborted !== true) throw error
        await this.#change((record) => withdraw(record, id))
        return this.#place.outcome(id, undefined)
      })
    } catch (error) {
      return { type: 'not-delivered', id, reason: 'unknown', code: codeOf(error) }
    }
  }

  async waiting(): Promise<readonly InboxMessage[]> {
    return (await this.#place.read()).waiting
  }

  async process(run: RunContext, callNext: () => Promise<{ readonly status: string }>) {
    this.#checkOwner(run)
    if (this.#run !== undefined) {
      throw new MiddlewareContractError(this.#name, 'reads its inbox for another run')
    }
    this.#run = run
    this.#isOpen = false
    this.#added = []
    const restored = run.state.get(kept)
    interceptLoop(run, {
      name: this.#name,
      iteration: async (context, next) => {
        if (!context.resumed) await this.#deliver(context, restored, 'steer')
        await next()
        if (context.ending?.status !== 'completed') return
        await this.#deliver(context, restored, 'steer')
        if (context.ending?.status === 'completed')
          await this.#deliver(context, restored, 'queue', 1)
      },
    })
    let status: NonNullable<NotDelivered['status']> = 'failed'
    try {
      // A store that fails delays messages; it ends no run.
      await this.#open(run, restored).catch(() => {})
      ;({ status } = (await callNext()) as { status: NonNullable<NotDelivered['status']> })
    } catch (error) {
      if (run.signal.aborted) status = 'aborted'
      throw error
    } finally {
      await this.#close(run, status)
    }
  }

  /** Takes the inbox over for a run, with what the conversation has already. */
  async #open(run: RunContext, restored: readonly InboxMessage[]): Promise<void> {
    await this.#change((record) => {
      const next = opened(record, run.id, restored)
      // The process before has added them, and ended before it could say so.
      return next.waiting.reduce((rest, entry) => {
        const found = deliveryIn(run, entry)
        return found === undefined ? rest : withOutcome(rest, found)
      }, next)
    }, run.signal)
    this.#isOpen = true
  }

  async #deliver(
    context: IterationContext,
    restored: readonly InboxMessage[],
    kind: InboxMessage['kind'],
    count = Infinity,
  ): Promise<void> {
    const { run } = context
    let messages: readonly InboxMessage[] = []
    try {
      if (!this.#isOpen) await this.#open(run, restored)
      await this.#change((record) => {
        const known = this.#added.reduce<InboxRecord>(withOutcome, record)
        const next = taken(record.run === run.id ? known : record, run.id, kind, count)
        messages = next.messages
        return next.record
      }, run.signal)
    } catch {
      return
    }
    for (const entry of messages) {
      // oxlint-disable-next-line no-await-in-loop
      const outcome = await this.#add(context, entry)
      // oxlint-disable-next-line no-await-in-loop
      await this.#change((record) => withOutcome(record, outcome)).catch(() => {})
      this.#report(run, { ...outcome, kind })
    }
  }

  async #add(context: IterationContext, entry: InboxMessage): Promise<Delivery> {
    const { run } = context
    const { id, message } = entry
    const rejected = { type: 'not-delivered', id, reason: 'rejected' } as const
    try {
      await context.addInput(message)
    } catch (error) {
      const isLost = run.signal.aborted || error instanceof MiddlewareContractError
      if (deliveryIn(run, entry) === undefined && !isLost)
        return { ...rejected, code: codeOf(error) }
      this.#noteAdded(run, entry)
      throw error
    }
    return this.#noteAdded(run, entry) ?? rejected
  }

  #noteAdded(run: RunContext, entry: InboxMessage): Delivered | undefined {
    const found = deliveryIn(run, entry)
    if (found !== undefined) this.#added.push(found)
    return found
  }

  async #close(run: RunContext, status: NonNullable<NotDelivered['status']>): Promise<void> {
    let left: readonly InboxMessage[] = []
    // Messages without an outcome wait for the next run if the store has failed.
    const record = await this.#change((found) => {
      if (found.run !== run.id) return found
      left = found.waiting
      return closed(this.#added.reduce<InboxRecord>(withOutcome, found), run.id, status)
    }).catch(() => undefined)
    this.#run = undefined
    for (const { id, kind } of left) {
      const outcome = record && outcomeIn(record, id)
      if (outcome !== undefined) this.#report(run, { ...outcome, kind })
    }
  }

  async #change(
    update: (record: InboxRecord) => InboxRecord,
    signal?: AbortSignal,
  ): Promise<InboxRecord> {
    const record = await this.#place.change(update, signal)
    const run = this.#run
    if (run !== undefined && record.run === run.id) {
      run.state.update(kept, () =>
        record.waiting.map(({ id, kind, message }) => ({ id, kind, message })),
      )
    }
    return record
  }

  #report(run: RunContext, event: InboxEvent): void {
    run.emit({ type: 'steering', data: event, public: true })
    try {
      this.#options.onEvent?.(event)
    } catch {
      // An observer cannot break what it observes.
    }
  }

  #checkOwner({ tenant, principal }: RunContext): void {
    const { store, ...owner } = this.#options
    const isAny = store === undefined && owner.tenant === undefined && owner.principal === undefined
    if (isAny || (owner.tenant === tenant && owner.principal === principal)) return
    throw new MiddlewareContractError(this.#name, 'has the inbox of another tenant or principal')
  }
}

/** @throws TypeError for an id that cannot be the key of a message */
function checkId(id: unknown): void {
  // oxlint-disable-next-line no-control-regex
  if (typeof id === 'string' && id.length <= 200 && /^[^\u0000-\u001f\u007f]+$/u.test(id)) return
  throw wrongOption('inbox', 'id', 'a text of 1 to 200 characters', id)
}

/** Returns what there is to say of a message that is in the conversation of a run. */
function deliveryIn(run: RunContext, { id, message }: InboxMessage): Delivered | undefined {
  const found = run.messages.all.find((entry) => entry.id === message.id)
  const edited = canonicalJson(found) !== canonicalJson(message)
  const { id: runId, iteration } = run
  return found && { type: 'delivered', id, runId, iteration, edited }
}

function codeOf(error: unknown): string | undefined {
  return LamellaError.is(error) ? error.code : undefined
}
