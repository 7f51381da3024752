import { answerSteps, claimAnswered } from '../pausing/approvals.ts'
import { Claims, stepsOf } from '../pausing/claims.ts'
import type { Run } from '../run/run.ts'
import type { RunPlan } from './agent-call.ts'

/** Claims the requests that a run answers, and the checkpoint or the saved steps that it continues from. */
export async function claimRequests({ agent, options }: RunPlan, run: Run): Promise<Claims> {
  const { answers = {}, idempotencyKey = run.ids.createSecretId('claim') } = options
  const claims = new Claims(idempotencyKey, run, agent.approvals)
  run.claimWith(idempotencyKey)
  const { state } = run.journal
  if (state === undefined) {
    await claimAnswered(claims, run, answers, agent.approvals)
    return claims
  }
  const steps = answerSteps(state.pending, answers)
  await claims.claim(steps.map(({ id }) => id))
  // Of saved steps, another process may die as well.
  await (state.paused ? claims.claim([state.id]) : claims.claim([stepsOf(run)], 600_000))
  for (const step of steps) run.journal.record(step)
  return claims
}
