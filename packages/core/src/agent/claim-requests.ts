import { answerSteps, claimAnswered } from '../pausing/approvals.ts'
import { Claims } from '../pausing/claims.ts'
import type { Run } from '../run/run.ts'
import type { RunPlan } from './agent-call.ts'

/** Claims the requests that a run answers, and the checkpoint that it continues from. */
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
  // Of a step that was saved, another process may die as well.
  await claims.claim([state.id], state.paused ? undefined : 600_000)
  for (const step of steps) run.journal.record(step)
  return claims
}
