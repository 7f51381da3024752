import type { AgentResponseUpdate, Checkpoint, Message, SessionSnapshot } from '@lamella/core'
import { createSecretId } from '@lamella/core/authoring'
import type { Redis } from 'ioredis'
import { takenOver, unknownRun } from './run-errors.ts'
import type { RunOutcome, RunOwner, RunRecord, RunRequest, RunState } from './run-record.ts'

/** State of a run when a worker starts it. */
export interface ClaimedRun {
  readonly state: RunState
  readonly deliveries: number
  readonly request: RunRequest
  /** Tenant and user that the run was added for. */
  readonly owner: RunOwner
  /** Step to continue from, if the run has started before. */
  readonly checkpoint: Checkpoint | undefined
  readonly answers: Readonly<Record<string, unknown>>
  /**
   * Text of the run when it was paused or returned to the queue, as its middleware released it.
   */
  readonly before: readonly Message[]
  /** The state of its session as it was at the checkpoint. */
  readonly sessionState: SessionSnapshot['state'] | undefined
  /** A cancel that arrived while no worker held the run. */
  readonly cancel: string | undefined
  /** State of a session when its outcome was written, if its save is not confirmed. */
  readonly unsaved: SessionSnapshot | undefined
  readonly outcome: RunOutcome | undefined
}

/** Message for subscribers: an update, or the outcome of a run. */
export type RunEntry =
  | { readonly kind: 'update'; readonly update: AgentResponseUpdate }
  | { readonly kind: 'outcome'; readonly outcome: RunOutcome; readonly leg: number }

/**
 * The runs of a queue in Redis: one hash and one stream each. Only the worker that claimed a run
 * last may write, so a worker that was considered dead cannot damage a run that another one
 * continues.
 */
export class RunStore {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #keepMs: number

  constructor(redis: Redis, queue: string, keepMs: number) {
    this.#redis = redis
    this.#prefix = `lamella:${queue}:`
    this.#keepMs = keepMs
  }

  get controlChannel(): string {
    return `${this.#prefix}control`
  }

  updatesKey(runId: string): string {
    return `${this.#prefix}updates:${runId}`
  }

  /** False if there is a run with this id already. */
  async create(runId: string, request: RunRequest): Promise<boolean> {
    const made = await this.#redis.eval(
      `if redis.call('hget', KEYS[1], 'created') == ARGV[3] then return 1 end
      if redis.call('exists', KEYS[1]) == 1 then return 0 end
      redis.call('hset', KEYS[1], 'state', 'queued', 'request', ARGV[1], 'agent', ARGV[2], 'leg', 0, 'deliveries', 0)
      redis.call('hset', KEYS[1], 'created', ARGV[3], 'owned', ARGV[4])
      return 1`,
      1,
      this.keyOf(runId),
      JSON.stringify(request),
      request.agent,
      step(),
      JSON.stringify({ tenant: request.tenant, principal: request.principal }),
    )
    return made === 1
  }

  async read(runId: string): Promise<RunRecord | undefined> {
    const fields = await this.#redis.hgetall(this.keyOf(runId))
    const { state, agent, deliveries, outcome, owned = '{}' } = fields
    if (state === undefined) return undefined
    return {
      runId,
      agent: agent!,
      state: state as RunState,
      deliveries: Number(deliveries),
      ...(JSON.parse(owned) as RunOwner),
      ...(outcome !== undefined && { outcome: JSON.parse(outcome) as RunOutcome }),
    }
  }

  /**
   * Resolves to true if a run has ended or is paused, so that no updates follow for now.
   * @throws LamellaError `run_unknown`
   */
  async isOver(runId: string): Promise<boolean> {
    const state = await this.#redis.hget(this.keyOf(runId), 'state')
    if (state === null) throw unknownRun(runId)
    return state !== 'queued' && state !== 'running'
  }

  async leg(runId: string): Promise<number> {
    return Number((await this.#redis.hget(this.keyOf(runId), 'leg')) ?? 0)
  }

  /**
   * Claims a run. An ended or waiting run stays unchanged. Resolves to `undefined` for a leg that
   * has ended: a client may have repeated its job afterwards.
   */
  async claim(runId: string, owner: string, leg: number): Promise<ClaimedRun | undefined> {
    const fields = (await this.#redis.eval(
      `if redis.call('hget', KEYS[1], 'leg') ~= ARGV[2] then return {} end
      local state = redis.call('hget', KEYS[1], 'state')
      if state == 'queued' or state == 'running' then
        if redis.call('hget', KEYS[1], 'owner') ~= ARGV[1] then
          redis.call('hincrby', KEYS[1], 'deliveries', 1)
        end
        redis.call('hset', KEYS[1], 'state', 'running', 'owner', ARGV[1])
      end
      return redis.call('hgetall', KEYS[1])`,
      1,
      this.keyOf(runId),
      owner,
      leg,
    )) as string[]
    const run = Object.fromEntries(pairs(fields))
    if (run['state'] === undefined) return undefined
    return {
      state: run['state'] as RunState,
      deliveries: Number(run['deliveries']),
      request: JSON.parse(run['request']!) as RunRequest,
      owner: JSON.parse(run['owned'] ?? '{}') as RunOwner,
      checkpoint: parsed(run['checkpoint']) as Checkpoint | undefined,
      answers: (parsed(run['answers']) ?? {}) as Record<string, unknown>,
      before: (parsed(run['before']) ?? []) as readonly Message[],
      sessionState: parsed(run['session-state']) as SessionSnapshot['state'] | undefined,
      cancel: run['cancel'],
      unsaved: parsed(run['session']) as SessionSnapshot | undefined,
      outcome: parsed(run['outcome']) as RunOutcome | undefined,
    }
  }

  /** @throws LamellaError `run_taken_over` if another worker has claimed the run */
  async saveStep(
    runId: string,
    owner: string,
    { checkpoint, sessionState }: Pick<ClaimedRun, 'checkpoint' | 'sessionState'>,
  ): Promise<void> {
    await this.#write(runId, owner, {
      checkpoint: JSON.stringify(checkpoint),
      answers: '{}',
      ...(sessionState && { 'session-state': JSON.stringify(sessionState) }),
    })
  }

  /**
   * Stores the end or the pause of a run. For a blocked run everything else is removed: the input,
   * the steps, and the output except `said`. Resolves to false, and writes nothing, if the run
   * would pause and was cancelled meanwhile.
   */
  async finish(
    runId: string,
    owner: string,
    outcome: RunOutcome,
    kept: {
      readonly checkpoint?: Checkpoint | undefined
      readonly session?: SessionSnapshot | undefined
      readonly said?: readonly AgentResponseUpdate[] | undefined
    },
  ): Promise<boolean> {
    const state = outcome.event.slice('run.'.length)
    const fields: Record<string, string> = { state, outcome: JSON.stringify(outcome) }
    if (kept.checkpoint !== undefined) {
      fields['checkpoint'] = JSON.stringify(kept.checkpoint)
      fields['before'] = JSON.stringify(outcome.messages)
    }
    if (kept.session !== undefined) fields['session'] = JSON.stringify(kept.session)
    const entries: RunEntry[] = [{ kind: 'outcome', outcome, leg: await this.leg(runId) }]
    const isBlocked = outcome.status === 'guardrail_tripped'
    if (isBlocked) {
      const restart = { contents: [], restart: true, scope: 'run' } as const
      const said = [restart, ...(kept.said ?? [])]
      entries.unshift(...said.map((update) => ({ kind: 'update', update }) as const))
      fields['request'] = JSON.stringify({ runId, input: '', sessionId: kept.session?.id })
    }
    const done = await this.#redis.eval(
      `if redis.call('hget', KEYS[1], 'finished') == ARGV[5] then return 1 end
      if redis.call('hget', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
      local kind = ARGV[2]
      if kind == 'waits' and redis.call('hexists', KEYS[1], 'cancel') == 1 then return 2 end
      if kind == 'blocked' then
        redis.call('hdel', KEYS[1], 'checkpoint', 'answers', 'answered', 'before')
        redis.call('xtrim', KEYS[2], 'MAXLEN', 0)
      end
      local last = 5 + tonumber(ARGV[4])
      for i = 6, last do redis.call('xadd', KEYS[2], '*', 'entry', ARGV[i]) end
      redis.call('hset', KEYS[1], unpack(ARGV, last + 1))
      redis.call('hset', KEYS[1], 'finished', ARGV[5])
      redis.call('hdel', KEYS[1], 'session-state')
      if kind ~= 'waits' then
        redis.call('pexpire', KEYS[1], ARGV[3])
        redis.call('pexpire', KEYS[2], ARGV[3])
      end
      return 1`,
      2,
      this.keyOf(runId),
      this.updatesKey(runId),
      owner,
      isBlocked ? 'blocked' : state === 'paused' ? 'waits' : 'ended',
      this.#keepMs,
      entries.length,
      step(),
      ...entries.map((entry) => JSON.stringify(entry)),
      ...Object.entries(fields).flat(),
    )
    if (done === 0) throw takenOver(runId)
    return done === 1
  }

  /** Records that the session of a run was saved. */
  async sessionSaved(runId: string): Promise<void> {
    await this.#redis.hdel(this.keyOf(runId), 'session')
  }

  /** Returns the run to the queue for another worker. */
  async putBack(
    runId: string,
    owner: string,
    from?: Pick<ClaimedRun, 'checkpoint' | 'before' | 'sessionState'>,
  ): Promise<void> {
    const fields: Record<string, string> = { state: 'queued' }
    if (from !== undefined) {
      fields['checkpoint'] = JSON.stringify(from.checkpoint)
      fields['before'] = JSON.stringify(from.before)
      fields['answers'] = '{}'
      if (from.sessionState) fields['session-state'] = JSON.stringify(from.sessionState)
    }
    await this.#write(runId, owner, fields)
  }

  /**
   * A paused run is to continue. Resolves to its new leg, to 0 if it does not wait, or to -1 if it was answered
   * otherwise. The same answers once more resolve to the same leg: who gave them may have died before the next
   * step, or not heard of it. With `onlyLeg`, it resumes the pause of that leg alone.
   */
  async resume(
    runId: string,
    answers: Readonly<Record<string, unknown>>,
    onlyLeg?: number,
  ): Promise<number> {
    const leg = await this.#redis.eval(
      `local state = redis.call('hget', KEYS[1], 'state')
      if ARGV[3] ~= '' and redis.call('hget', KEYS[1], 'leg') ~= ARGV[3] then return 0 end
      local known = redis.call('hget', KEYS[1], 'resumed') == ARGV[2]
      local same = state ~= 'paused' and redis.call('hget', KEYS[1], 'answered') == ARGV[1]
      if known or same then return tonumber(redis.call('hget', KEYS[1], 'leg')) end
      if state ~= 'paused' then return -redis.call('hexists', KEYS[1], 'answered') end
      redis.call('hset', KEYS[1], 'state', 'queued', 'answers', ARGV[1], 'answered', ARGV[1], 'resumed', ARGV[2])
      redis.call('hdel', KEYS[1], 'outcome')
      return redis.call('hincrby', KEYS[1], 'leg', 1)`,
      1,
      this.keyOf(runId),
      JSON.stringify(answers),
      step(),
      onlyLeg ?? '',
    )
    return Number(leg)
  }

  /** Tells whether there is anything to cancel. A waiting run is canceled immediately. */
  async cancel(runId: string, mode: string, outcome: RunOutcome): Promise<boolean> {
    const keys = [this.keyOf(runId), this.updatesKey(runId)]
    const entry: RunEntry = { kind: 'outcome', outcome, leg: await this.leg(runId) }
    const state = (await this.#redis.eval(
      `if redis.call('hget', KEYS[1], 'cancelled') == ARGV[5] then return 'paused' end
      local state = redis.call('hget', KEYS[1], 'state')
      if state == 'queued' or state == 'running' then
        redis.call('hset', KEYS[1], 'cancel', ARGV[1], 'cancelled', ARGV[5])
      end
      if state == 'paused' then
        redis.call('hset', KEYS[1], 'state', 'cancelled', 'outcome', ARGV[2], 'cancelled', ARGV[5])
        redis.call('xadd', KEYS[2], '*', 'entry', ARGV[3])
        redis.call('pexpire', KEYS[1], ARGV[4])
        redis.call('pexpire', KEYS[2], ARGV[4])
      end
      return state`,
      2,
      ...keys,
      mode,
      JSON.stringify(outcome),
      JSON.stringify(entry),
      this.#keepMs,
      step(),
    )) as string | null
    return state !== null && ['queued', 'running', 'paused'].includes(state)
  }

  /** Adds messages for subscribers. */
  async append(runId: string, owner: string, entries: readonly RunEntry[]): Promise<void> {
    if (entries.length === 0) return
    const done = await this.#redis.eval(
      `if redis.call('hget', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
      if redis.call('hget', KEYS[1], 'appended') == ARGV[2] then return 1 end
      for i = 3, #ARGV do redis.call('xadd', KEYS[2], '*', 'entry', ARGV[i]) end
      redis.call('hset', KEYS[1], 'appended', ARGV[2])
      return 1`,
      2,
      this.keyOf(runId),
      this.updatesKey(runId),
      owner,
      step(),
      ...entries.map((entry) => JSON.stringify(entry)),
    )
    if (done !== 1) throw takenOver(runId)
  }

  async #write(runId: string, owner: string, fields: Record<string, string>): Promise<void> {
    const done = await this.#redis.eval(
      `if redis.call('hget', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
      redis.call('hset', KEYS[1], unpack(ARGV, 2))
      return 1`,
      1,
      this.keyOf(runId),
      owner,
      ...Object.entries(fields).flat(),
    )
    if (done !== 1) throw takenOver(runId)
  }

  /** Key of a run, which no run of another queue has. */
  keyOf(runId: string): string {
    return `${this.#prefix}run:${runId}`
  }
}

/**
 * Names one step. A client sends a script again when its connection broke before the reply came; a run
 * remembers the last step of each kind, so that the second time changes nothing.
 */
function step(): string {
  return createSecretId('step')
}

function pairs(list: readonly string[]): [string, string][] {
  const entries: [string, string][] = []
  for (let at = 0; at < list.length; at += 2) entries.push([list[at]!, list[at + 1]!])
  return entries
}

function parsed(json: string | undefined): unknown {
  return json === undefined ? undefined : JSON.parse(json)
}
