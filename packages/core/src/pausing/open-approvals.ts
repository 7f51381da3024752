import type { ApprovalRequestContent } from '../messages/content.ts'
import type { Run } from '../run/run.ts'

/** Approvals that runs without a session have asked for. The oldest are forgotten. */
export class OpenApprovals {
  readonly #open = new Map<string, ApprovalRequestContent>()

  remember(request: ApprovalRequestContent): void {
    this.#open.set(request.id, request)
    const [oldest] = this.#open.keys()
    if (this.#open.size > 10_000) this.#open.delete(oldest!)
  }

  find(id: string): ApprovalRequestContent | undefined {
    return this.#open.get(id)
  }

  forget(id: string): void {
    this.#open.delete(id)
  }
}

/** Removes answered requests from those that are open, also those that this run has answered if it is done. */
export function closeRequests(
  { journal, session }: Run,
  open: OpenApprovals,
  isDone: boolean,
): void {
  const steps = isDone ? journal.steps : journal.before
  const answered = new Set(steps.flatMap((step) => (step.kind === 'answer' ? step.id : [])))
  if (answered.size === 0) return
  for (const id of answered) open.forget(id)
  if (session?.pending.some(({ id }) => answered.has(id)) === true)
    session.pending = session.pending.filter(({ id }) => !answered.has(id))
}
