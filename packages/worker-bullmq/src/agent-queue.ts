import type { CancelMode } from '@lamella/core'
import {
  createSecretId,
  checkOptions,
  systemClock,
  withinStoreTime,
  wrongOption,
} from '@lamella/core/authoring'
import { LamellaError } from '@lamella/core'
import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Connection } from './connection.ts'
import { cancelModes } from './control-message.ts'
import { checkPlace, closed, connect, sharedRules } from './connection.ts'
import { unknownRun } from './run-errors.ts'
import { cancelledOutcome } from './run-outcome.ts'
import type { RunOutcome, RunOwner, RunRecord, RunRequest } from './run-record.ts'
import { RunStore } from './run-store.ts'
import type { RunMessage } from './subscription.ts'
import { readRun } from './subscription.ts'

/** Options of `AgentQueue`. */
export interface AgentQueueOptions {
  /** Name that the queue and its workers share, without `:`. */
  readonly name: string
  /** Connection to Redis. */
  readonly connection: Connection
  /**
   * Attempts of a crashing run in total.
   * @default 3
   */
  readonly attempts?: number | undefined
  /**
   * Milliseconds before the second attempt; doubled before each later one.
   * @default 1000
   */
  readonly backoffMs?: number | undefined
  /**
   * Milliseconds for which the record of an ended run is kept. Until then, its id cannot be used
   * again.
   * @default 604800000, seven days
   */
  readonly keepMs?: number | undefined
  /**
   * Milliseconds to wait for Redis; then the call rejects with `store_timeout`. It may still take
   * effect: repeat it with the same `runId` or the same answers.
   * @default 5000
   */
  readonly storeTimeoutMs?: number | undefined
}

/** Data of a BullMQ job. All else is in the record of the run. */
export interface RunJob {
  readonly runId: string
  /** Part of the run, from one pause to the next. */
  readonly leg: number
  /** True for a job that ends the pause of the leg if nobody has answered. */
  readonly expires?: true
}

/** Adds runs to a queue, and reports their outcomes. */
export class AgentQueue {
  readonly #queue: Queue<RunJob>
  readonly #redis: Redis
  readonly #connection: Connection
  readonly #store: RunStore
  readonly #attempts: number
  readonly #backoffMs: number
  readonly #timeoutMs: number

  /** @throws TypeError or RangeError that names the option and the value */
  constructor(options: AgentQueueOptions) {
    checkOptions('AgentQueue', options, {
      storeTimeoutMs: 'ms',
      ...sharedRules,
      attempts: 1,
      backoffMs: 0,
    })
    checkPlace('AgentQueue', options)
    const { name, connection, attempts = 3, backoffMs = 1000, keepMs = sevenDaysMs } = options
    this.#connection = connection
    this.#redis = connect(connection)
    this.#queue = new Queue(name, { connection: this.#redis })
    this.#store = new RunStore(this.#redis, name, keepMs)
    this.#attempts = attempts
    this.#backoffMs = backoffMs
    this.#timeoutMs = options.storeTimeoutMs ?? 5000
  }

  /** Adds a run. A run with a known id is not added again, and its id is returned. */
  async add(request: RunRequest): Promise<{
    /** Id of the run. */
    readonly runId: string
    /** False if a run with this id was known. */
    readonly added: boolean
  }> {
    checkOptions('AgentQueue.add', request, {
      agent: 'string',
      input: 'any',
      runId: 'any',
      sessionId: 'any',
      tenant: 'any',
      principal: 'any',
      data: 'any',
    })
    const { input } = request
    if (typeof input !== 'string' && !Array.isArray(input))
      throw wrongOption('AgentQueue.add', 'input', 'a string or a list of messages', input, true)
    const runId = request.runId ?? createSecretId('run')
    if (!/^[\w.-]{1,200}$/.test(runId)) {
      throw new RangeError(
        'AgentQueue.add: `runId` must be 1 to 200 letters, digits, `_`, `-` or `.`',
      )
    }
    return this.#inTime(async () => {
      const added = await this.#store.create(runId, { ...request, runId })
      // Also where the run was known: who created it may have died before this line.
      const record = added ? undefined : await this.#store.read(runId)
      if (added || record?.state === 'queued')
        await this.#enqueue(runId, await this.#store.leg(runId))
      return { runId, added }
    })
  }

  /**
   * Resumes a paused run on any free worker. Repeating the same answers changes nothing.
   * @throws LamellaError `approval_invalid` for an answer without a request, `approval_used` for a
   * run that was answered differently before, `run_state` for a run that is not paused
   */
  async resume(
    runId: string,
    answers: Readonly<Record<string, unknown>>,
    owner: RunOwner = {},
  ): Promise<void> {
    const record = await this.read(runId, owner)
    const pending = record.outcome?.pending ?? []
    if (record.state === 'paused') {
      for (const id of Object.keys(answers)) {
        if (pending.some((request) => request.id === id)) continue
        throw new LamellaError(`resume: run "${runId}" does not wait for "${id}"`, {
          code: 'approval_invalid',
        })
      }
    }
    await this.#inTime(async () => {
      const leg = await this.#store.resume(runId, answers)
      if (leg < 0) {
        throw new LamellaError(`resume: run "${runId}" was answered before; nothing ran`, {
          code: 'approval_used',
        })
      }
      if (leg === 0) {
        throw new LamellaError(`resume: run "${runId}" is ${record.state}, not paused`, {
          code: 'run_state',
        })
      }
      await this.#enqueue(runId, leg)
    })
  }

  /**
   * Cancels a run in any state. Resolves to true if the run had not ended yet; `result` has its
   * outcome.
   */
  async cancel(
    runId: string,
    options: RunOwner & { readonly mode?: CancelMode | undefined } = {},
  ): Promise<boolean> {
    const { mode = 'now' } = options
    checkOptions('AgentQueue.cancel', options, { ...ownerRules, mode: cancelModes })
    if (!(await this.#owns(runId, options))) return false
    return this.#inTime(async () => {
      const isOpen = await this.#store.cancel(runId, mode, cancelledOutcome(runId, undefined, []))
      await this.#tell({ runId, cancel: mode })
      return isOpen
    })
  }

  /** Answers a `run.request` of a middleware or tool, if its worker still waits for it. */
  async respond(runId: string, id: string, value: unknown, owner: RunOwner = {}): Promise<void> {
    if (!(await this.#owns(runId, owner))) return
    await this.#inTime(() => this.#tell({ runId, respond: id, value }))
  }

  /**
   * Reads the record of a run.
   * @throws LamellaError `run_unknown`
   */
  async read(runId: string, owner: RunOwner = {}): Promise<RunRecord> {
    checkOptions('AgentQueue', owner, ownerRules)
    const record = await this.#inTime(() => this.#store.read(runId))
    if (record !== undefined && isOf(record, owner)) return record
    throw unknownRun(runId)
  }

  /**
   * Iterates over the updates of a run and finally its outcome, from the start or after the message
   * `from`. A worker that continues the run sends an update with `restart`.
   * @throws LamellaError `run_unknown`, from the first step of the iteration on
   */
  subscribe(
    runId: string,
    options: RunOwner & {
      readonly from?: string | undefined
      readonly signal?: AbortSignal | undefined
    } = {},
  ): AsyncIterable<RunMessage> {
    const { tenant, principal } = options
    const check = () => this.read(runId, { tenant, principal })
    return readRun(this.#store, () => connect(this.#connection), runId, { ...options, check })
  }

  /** Waits for the outcome of a run, or for its pause. */
  async result(
    runId: string,
    options: RunOwner & { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<RunOutcome> {
    const { tenant, principal } = options
    const { outcome } = await this.read(runId, { tenant, principal })
    if (outcome !== undefined) return outcome
    for await (const message of this.subscribe(runId, options)) {
      if (message.kind === 'outcome') return message.outcome
    }
    throw new LamellaError(`run "${runId}" has no outcome any more`, { code: 'run_unknown' })
  }

  /** Waits for pending writes, at most five seconds if Redis is unavailable; then it fails. */
  async close(): Promise<void> {
    await closed(this.#redis, this.#leave(), 0)
  }

  async #leave(): Promise<void> {
    await this.#queue.close()
    await this.#redis.quit()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #owns(runId: string, owner: RunOwner): Promise<boolean> {
    const record = await this.#inTime(() => this.#store.read(runId))
    return record !== undefined && isOf(record, owner)
  }

  #inTime<Result>(work: () => Promise<Result>): Promise<Result> {
    return withinStoreTime(work(), { clock: systemClock, timeoutMs: this.#timeoutMs })
  }

  async #enqueue(runId: string, leg: number): Promise<void> {
    await this.#queue.add(
      'run',
      { runId, leg },
      {
        jobId: `${runId}-${leg}`,
        attempts: this.#attempts,
        backoff: { type: 'exponential', delay: this.#backoffMs },
        removeOnComplete: true,
      },
    )
  }

  async #tell(message: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#redis.publish(this.#store.controlChannel, JSON.stringify(message))
  }
}

function isOf(record: RunOwner, { tenant, principal }: RunOwner): boolean {
  const isTenant = tenant === undefined || record.tenant === tenant
  return isTenant && (principal === undefined || record.principal === principal)
}

const ownerRules = { tenant: 'any', principal: 'any' } as const
const sevenDaysMs = 7 * 24 * 60 * 60 * 1000
