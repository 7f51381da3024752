import { jsonCopy } from '../base/json.ts'
import { LamellaError } from '../base/lamella-error.ts'
import { backgroundTimer } from '../base/timers.ts'
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
  const keep = (record: OnceRecord): Promise<void> =>
    ask((store) => store.set(records, jsonCopy(record), { ttlMs: keptMs }))
  const lease = await takeLease(ask, place, run, key)
  try {
    const record = ((await ask((store) => store.get(records))) ?? {}) as OnceRecord
    const { ending, step } = record
    if (ending !== undefined) {
      if (options.session !== undefined) {
        const turn = await enterSession(options.session, run, options.sessionWaitMs)
        restoreSession(turn.session, record)
        await turn.leave()
      }
      for (const update of toUpdates(ending)) run.sink.push(update)
      const { responseFormat } = mergeChatOptions(agent.options, options.options)
      return await withValue(ending, responseFormat)
    }
    run.keepSteps((checkpoint) => keep({ step: checkpoint }))
    if (step !== undefined) run.acceptInput(Object.freeze([...step.input]))
    const from = step && { checkpoint: step, options: { ...options, answers: undefined } }
    // If the store fails now, the next run continues from the last step.
    return await execute({ ...plan, ...from, keep: (end) => keep(end).catch(() => {}) }, run)
  } finally {
    await lease.end()
  }
}

/** Holds a key of the store until it ends, the process does, or the store was away for too long. */
async function takeLease(
  ask: ReturnType<typeof claimStoreOf>,
  place: string,
  run: Run,
  key: string,
): Promise<{ end(): Promise<void> }> {
  const text = `another run with the \`idempotencyKey\` "${key}" has not ended`
  const problem = new LamellaError(text, { code: 'run_active' })
  const own = run.ids.createSecretId('lease')
  const swap = (from: string | undefined, to: string): Promise<boolean> =>
    ask((store) => store.compareAndSet(place, from, to, { ttlMs: leaseMs }))
  if (!(await swap(undefined, own)) && !(await swap(free, own))) throw problem
  const renewed = async (before = 0): Promise<void> => {
    const isOwn = await swap(own, own).catch(() => undefined)
    const misses = isOwn === undefined ? before + 1 : 0
    if (isOwn ?? misses < 3) stopTimer = backgroundTimer(() => void renewed(misses), leaseMs / 5)
    else run.abort(problem)
  }
  let stopTimer = backgroundTimer(() => void renewed(), leaseMs / 5)
  return {
    async end() {
      stopTimer()
      await swap(own, free).catch(() => false)
    },
  }
}

/** Value of a lease that has ended. */
const free = 'free'
const leaseMs = 30_000
const keptMs = 86_400_000
