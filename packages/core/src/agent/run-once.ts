import { jsonCopy } from '../base/json.ts'
import { LamellaError } from '../base/lamella-error.ts'
import { backgroundTimer } from '../base/timers.ts'
import { withinTime } from '../base/waits.ts'
import { mergeChatOptions } from '../contract/chat-options.ts'
import type { AgentResponse } from '../contract/outcome.ts'
import { toUpdates } from '../messages/chat-response.ts'
import { claimStoreOf } from '../pausing/claims.ts'
import { withValue } from '../pipeline/structured-output.ts'
import type { Run } from '../run/run.ts'
import { keyOf } from '../store/key-of.ts'
import type { OnceRecord, RunPlan } from './agent-call.ts'
import { restoreSession } from './close-run.ts'
import { enterSession } from './session-turn.ts'

/**
 * Executes a run with an `idempotencyKey`: at most one at a time in all processes that share the store. After one
 * that ended it gives its ending; after one that failed, or whose process died, it continues from the last step.
 * @throws LamellaError `run_active` while another run has the key
 */
export async function runOnce(
  plan: RunPlan,
  run: Run,
  key: string,
  execute: (plan: RunPlan, run: Run) => Promise<AgentResponse>,
): Promise<AgentResponse> {
  const { agent, options } = plan
  const ask = claimStoreOf(run, options.session)
  const place = keyOf('once:', run, run.agentName, key)
  const records = `${place}:record`
  return whileHeld(ask, place, run, key, async (check) => {
    // A call begins when this is kept, and the process may stand still before that or meanwhile.
    const keep = async (record: OnceRecord): Promise<void> => {
      await check()
      await ask((store) => store.set(records, jsonCopy(record), { ttlMs: keptMs }))
      await check()
    }
    const record = ((await ask((store) => store.get(records))) ?? {}) as OnceRecord
    const { ending, step } = record
    if (ending !== undefined) {
      if (options.session !== undefined) {
        const turn = await enterSession(options.session, run, options.sessionWaitMs)
        restoreSession(turn.session, record)
        await turn.leave()
      }
      for (const update of toUpdates(ending)) run.sink.push(update)
      return withValue(ending, mergeChatOptions(agent.options, options.options).responseFormat)
    }
    run.keepSteps((checkpoint) => keep({ step: checkpoint }))
    if (step !== undefined) run.acceptInput(Object.freeze([...step.input]))
    const from = step && { checkpoint: step, options: { ...options, answers: undefined } }
    // If the store fails now, the next run continues from the last step.
    return execute({ ...plan, ...from, keep: (end) => keep(end).catch(() => {}) }, run)
  })
}

/**
 * Works while a key of the store is held, and aborts the run if the store was away for too long, well before another one
 * may have the key. `check` throws if the process stood still for so long.
 */
async function whileHeld<Value>(
  ask: ReturnType<typeof claimStoreOf>,
  place: string,
  run: Run,
  key: string,
  work: (check: () => Promise<void>) => Promise<Value>,
): Promise<Value> {
  const text = `another run with the \`idempotencyKey\` "${key}" has not ended`
  const problem = new LamellaError(text, { code: 'run_active' })
  const own = run.ids.createSecretId('lease')
  const swap = (from: string | undefined, to: string): Promise<boolean> =>
    ask((store) => store.compareAndSet(place, from, to, { ttlMs: leaseMs }))
  let heldAt = Date.now()
  if (!(await swap(undefined, own)) && !(await swap(free, own))) throw problem
  const isOld = (): boolean => Date.now() >= heldAt + leaseMs * 0.6
  const limit = { timeoutMs: leaseMs / 5 }
  const renew = async (): Promise<void> => {
    stopTimer()
    stopTimer = later()
    const now = Date.now()
    const isOwn = await withinTime(swap(own, own), limit, () => problem).catch(() => undefined)
    if (isOwn) heldAt = now
    if (isOwn === false || isOld()) run.abort(problem)
  }
  const later = (): (() => void) => backgroundTimer(() => void renew(), leaseMs / 5)
  let stopTimer = later()
  try {
    return await work(async () => {
      if (isOld()) await renew()
      run.throwIfAborted()
    })
  } finally {
    stopTimer()
    await swap(own, free).catch(() => false)
  }
}

/** Value of a lease that has ended. */
const free = 'free'
const leaseMs = 30_000
const keptMs = 86_400_000
