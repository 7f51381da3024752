import type { Agent, CancelMode, Session } from '@lamella/core'
import type { Sessions } from '@lamella/store'
import { expiredAnswer } from '@lamella/store'
import { createId, createSession, LamellaError } from '@lamella/core'
import { checkOptions, wrongOption } from '@lamella/core/authoring'
import type { Job, JobsOptions } from 'bullmq'
import { DelayedError, Queue, WaitingError, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import type { RunJob } from './agent-queue.ts'
import type { Connection } from './connection.ts'
import { readControl } from './control-message.ts'
import { checkPlace, closed, connect, sharedRules } from './connection.ts'
import type { RunEnd } from './active-run.ts'
import { ActiveRun } from './active-run.ts'
import { begunTooOften, leftBehind } from './run-errors.ts'
import type { RunOutcome, RunOwner } from './run-record.ts'
import type { ClaimedRun } from './run-store.ts'
import { RunStore } from './run-store.ts'
import { SessionLocks } from './session-locks.ts'

/** Options of `AgentWorker`. */
export interface AgentWorkerOptions {
  /** Name of the queue. */
  readonly name: string
  /** Connection to Redis. */
  readonly connection: Connection
  /**
   * Agents by the names that runs are added with, or a function of the name that returns the agent.
   */
  readonly agents: Readonly<Record<string, Agent>> | ((name: string) => Agent | Promise<Agent>)
  /** Sessions of all workers of the queue, by `sessions(store)`. Required for runs with a `sessionId`. */
  readonly sessions?: Sessions | undefined
  /**
   * Maximum number of concurrent runs.
   * @default 10
   */
  readonly concurrency?: number | undefined
  /**
   * Milliseconds after which the runs of a silent worker are taken over.
   * @default 30000
   */
  readonly lockMs?: number | undefined
  /**
   * Maximum number of starts of a run, crashes of its worker included; then it counts as crashed.
   * @default 20
   */
  readonly maxDeliveries?: number | undefined
  /**
   * Milliseconds for which updates are collected before they are written for subscribers.
   * @default 20
   */
  readonly flushMs?: number | undefined
  /** As for the queue. @default 604800000, seven days */
  readonly keepMs?: number | undefined
  /**
   * Milliseconds after which a pause that nobody has answered ends: its requests are refused, and the run continues.
   * @default never
   */
  readonly expiresAfterMs?: number | undefined
  /**
   * Receives each failure, with details that the record omits. Errors that it throws are dropped.
   */
  readonly onError?: ((error: unknown, runId: string | undefined) => void) | undefined
}

/** Runs the agents of a queue. */
export class AgentWorker {
  readonly #options: AgentWorkerOptions
  readonly #redis: Redis
  readonly #listener: Redis
  readonly #store: RunStore
  readonly #locks: SessionLocks
  readonly #worker: Worker<RunJob>
  readonly #dead: Queue
  readonly #queue: Queue<RunJob>
  readonly #active = new Map<string, ActiveRun>()
  /** Received cancels of runs that are being claimed. */
  readonly #taking = new Map<string, CancelMode | undefined>()
  #closing: Promise<void> | undefined

  /** @throws TypeError or RangeError that names the option and the value */
  constructor(options: AgentWorkerOptions) {
    checkOptions('AgentWorker', options, {
      ...sharedRules,
      agents: 'any',
      sessions: 'any',
      concurrency: 1,
      lockMs: 1000,
      maxDeliveries: 1,
      flushMs: 0,
      expiresAfterMs: 1,
      onError: 'function?',
    })
    checkPlace('AgentWorker', options)
    const { agents } = options
    if (typeof agents !== 'function' && !isObject(agents)) {
      throw wrongOption('AgentWorker', 'agents', 'an object of agents or a function', agents)
    }
    const {
      name,
      connection,
      concurrency = 10,
      lockMs = defaultLockMs,
      keepMs = sevenDaysMs,
    } = options
    this.#options = options
    this.#redis = connect(connection)
    this.#listener = connect(connection)
    this.#store = new RunStore(this.#redis, name, keepMs)
    this.#locks = new SessionLocks(this.#redis, name)
    this.#dead = new Queue(deadLetterQueue(name), { connection: this.#redis })
    this.#queue = new Queue(name, { connection: this.#redis })
    this.#worker = new Worker<RunJob>(name, (job, token) => this.#process(job, token!), {
      connection: this.#redis,
      concurrency,
      lockDuration: lockMs,
      stalledInterval: lockMs,
      // BullMQ waits 15 s after a broken connection: half of the default time for which a worker
      // holds a run.
      runRetryDelay: 500,
      // Deliveries are counted here, over all legs of a run.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
    })
    const onError = (error: Error): void => this.#report(error, undefined)
    this.#worker.on('error', onError)
    this.#dead.on('error', onError)
    this.#queue.on('error', onError)
    this.#listener.on('error', onError)
    this.#worker.on('lockRenewalFailed', (jobIds) => {
      for (const run of this.#active.values()) if (jobIds.includes(run.jobId)) run.lose()
    })
    this.#listener.on('message', (_, text: string) => this.#hear(text))
    // It waits for Redis, and fails if the worker is closed before.
    this.#listener.subscribe(this.#store.controlChannel).catch(() => {})
  }

  /** Resolves when the worker can accept runs. */
  async ready(): Promise<void> {
    await this.#worker.waitUntilReady()
  }

  /**
   * Accepts no more runs, lets running ones reach their next safe point, and returns them to the
   * queue. After `timeoutMs` they are aborted, and other workers continue from the last finished
   * step. If Redis is unavailable, it closes five seconds later and reports the runs to `onError`;
   * other workers take them over after `lockMs`.
   */
  close(options: { readonly timeoutMs?: number | undefined } = {}): Promise<void> {
    const { timeoutMs = 10_000 } = options
    checkOptions('AgentWorker.close', options, { timeoutMs: 0 })
    return (this.#closing ??= this.#close(timeoutMs))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #close(timeoutMs: number): Promise<void> {
    const leaving = this.#leave()
    for (const run of this.#active.values()) run.handOver(timeoutMs)
    const left = [...this.#active.keys()]
    if (!(await closed(this.#redis, leaving, timeoutMs))) {
      this.#worker.disconnect().catch(() => {})
      for (const runId of left) this.#report(leftBehind(runId), runId)
    }
    this.#listener.disconnect()
  }

  async #leave(): Promise<void> {
    await this.#worker.close()
    await this.#dead.close()
    await this.#queue.close()
    await this.#redis.quit()
  }

  async #process(job: Job<RunJob>, token: string): Promise<void> {
    const { runId, expires } = job.data
    if (expires) return this.#expire(job)
    this.#taking.set(runId, undefined)
    try {
      const run = await this.#take(job, token)
      if (run === undefined) return
      const cancel = this.#taking.get(runId)
      if (cancel !== undefined) run.cancel(cancel)
      this.#active.set(runId, run)
      await this.#work(job, token, run)
    } finally {
      this.#taking.delete(runId)
      this.#active.delete(runId)
    }
  }

  /**
   * Claims the run of a job for this worker, unless it has ended or another run holds its session.
   */
  async #take(job: Job<RunJob>, token: string): Promise<ActiveRun | undefined> {
    const { runId, leg } = job.data
    const owner = createId('owner')
    const claimed = await this.#store.claim(runId, owner, leg)
    if (claimed === undefined) return undefined
    const { sessionId } = claimed.request
    if (claimed.state !== 'running') {
      // The worker that wrote the outcome may have died before the remaining steps.
      await this.#settle(job, claimed, claimed.unsaved && createSession(claimed.unsaved))
      if (claimed.outcome?.status === 'agent_crashed') await this.#bury(runId, claimed.outcome)
      return undefined
    }
    if (sessionId !== undefined && !(await this.#locks.hold(sessionId, claimed.owner, runId))) {
      await this.#store.putBack(runId, owner)
      return await tryLater(job, token, sessionBusyMs)
    }
    const { flushMs, lockMs = defaultLockMs } = this.#options
    return new ActiveRun(this.#store, job.id!, owner, claimed, { flushMs, lockMs })
  }

  async #work(job: Job<RunJob>, token: string, run: ActiveRun): Promise<void> {
    const { runId } = job.data
    const { maxDeliveries = 20 } = this.#options
    const { request, deliveries } = run.claimed
    let end: RunEnd
    try {
      if (this.#closing !== undefined) run.handOver(0)
      if (deliveries > maxDeliveries) throw begunTooOften(runId, deliveries - 1)
      const session = await this.#session(job, run.claimed)
      end = await run.execute(await this.#agent(request.agent), session)
    } catch (error) {
      if (LamellaError.is(error, 'run_taken_over')) throw error
      this.#report(error, runId)
      const outcome = await run.fail(error, isLastTry(job) || deliveries > maxDeliveries)
      if (outcome === undefined) throw error
      await this.#settle(job, run.claimed, undefined)
      if (outcome.status !== 'agent_crashed') return
      await this.#bury(runId, outcome)
      throw error
    }
    if (end === 'busy') return tryLater(job, token, runActiveMs)
    if (end !== 'handed-over') return this.#settle(job, run.claimed, end.session)
    await job.moveToWait(token)
    throw new WaitingError()
  }

  /** Sees to it that a pause ends if nobody answers. Asked twice, it does so once. */
  async #limitPause(job: Job<RunJob>): Promise<void> {
    const { runId, leg } = job.data
    const { expiresAfterMs: delay } = this.#options
    if (delay === undefined || (await this.#store.read(runId))?.state !== 'paused') return
    const options = { ...triedLike(job, `${runId}-${leg}-expires`), delay }
    await this.#queue.add('run', { runId, leg, expires: true }, options)
  }

  /** Refuses what nobody has answered in time. */
  async #expire(job: Job<RunJob>): Promise<void> {
    const { runId, leg } = job.data
    const { outcome } = (await this.#store.read(runId)) ?? {}
    const refusals = (outcome?.pending ?? []).map((request) => [request.id, expiredAnswer(request)])
    if (refusals.length > 0) await this.#store.resume(runId, Object.fromEntries(refusals), leg)
    // Also where this was done before: the worker may have died in between.
    const [record, next] = [await this.#store.read(runId), await this.#store.leg(runId)]
    if (record?.state !== 'queued' || next !== leg + 1) return
    await this.#queue.add('run', { runId, leg: next }, triedLike(job, `${runId}-${next}`))
  }

  /**
   * The outcome is stored; only the session remains. A failure here retries the save, not the run.
   */
  async #settle(
    job: Job<RunJob>,
    { request: { sessionId }, owner }: ClaimedRun,
    session: Session | undefined,
  ): Promise<void> {
    await this.#limitPause(job)
    if (sessionId === undefined) return
    await this.#save(job, owner, session)
    await this.#locks.release(sessionId, owner, job.data.runId)
  }

  async #save(job: Job<RunJob>, owner: RunOwner, session: Session | undefined): Promise<void> {
    if (session === undefined) return
    const { runId } = job.data
    try {
      await this.#options.sessions?.save(session, owner)
      await this.#store.sessionSaved(runId)
    } catch (error) {
      this.#report(error, runId)
      if (!isLastTry(job)) throw error
    }
  }

  async #agent(name: string): Promise<Agent> {
    const { agents } = this.#options
    const agent =
      typeof agents === 'function'
        ? await agents(name)
        : Object.hasOwn(agents, name)
          ? agents[name]
          : undefined
    if (agent !== undefined) return agent
    throw new LamellaError(`this worker has no agent "${name}"`, { code: 'agent_unknown' })
  }

  /** The session of a run, with its state as it was at the step that the run continues from. */
  async #session(job: Job<RunJob>, claimed: ClaimedRun): Promise<Session | undefined> {
    const { owner, sessionState: state, unsaved } = claimed
    const { sessionId } = claimed.request
    const { sessions } = this.#options
    if (sessionId === undefined) return undefined
    if (sessions === undefined) {
      throw new LamellaError('the run has a `sessionId`, but the worker has no `sessions`', {
        code: 'session_invalid',
      })
    }
    // The worker of the previous leg may have died after writing its outcome.
    await this.#save(job, owner, unsaved && createSession(unsaved))
    const session = await sessions.open(sessionId, owner)
    return state === undefined ? session : createSession({ ...session.toJSON(), state })
  }

  async #bury(runId: string, outcome: RunOutcome): Promise<void> {
    await this.#dead.add('run', { runId, error: outcome.error }, { jobId: runId })
  }

  #hear(text: string): void {
    try {
      const { runId, cancel, respond, value } = readControl(text)
      const run = this.#active.get(runId)
      if (cancel !== undefined && this.#taking.has(runId)) this.#taking.set(runId, cancel)
      if (cancel !== undefined) run?.cancel(cancel)
      if (respond !== undefined) run?.respond(respond, value)
    } catch (error) {
      this.#report(error, undefined)
    }
  }

  #report(error: unknown, runId: string | undefined): void {
    try {
      this.#options.onError?.(error, runId)
    } catch {
      // An observer cannot break what it observes.
    }
  }
}

/** Returns the name of the queue for runs that crashed in every attempt. */
export function deadLetterQueue(name: string): string {
  return `${name}-dead`
}

function isLastTry({ attemptsMade, opts: { attempts = 1 } }: Job): boolean {
  return attemptsMade + 1 >= attempts
}

/** Options of a job that is tried as often as another one. */
function triedLike(
  { opts: { attempts = 1, backoff = 0 } }: Job<RunJob>,
  jobId: string,
): JobsOptions {
  return { jobId, attempts, backoff, removeOnComplete: true }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

async function tryLater(job: Job<RunJob>, token: string, ms: number): Promise<never> {
  await job.moveToDelayed(Date.now() + ms, token)
  throw new DelayedError()
}

const sessionBusyMs = 100
/** A sixth of the lease of a run. */
const runActiveMs = 5000
const defaultLockMs = 30_000
const sevenDaysMs = 7 * 24 * 60 * 60 * 1000
