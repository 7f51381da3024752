import type { ApprovalRequestContent } from '../messages/content.ts'
import type { KeyOwner } from '../store/key-of.ts'
import { keyOf } from '../store/key-of.ts'
import type { Run } from '../run/run.ts'

/** Approvals that runs without a session have asked for. The oldest are forgotten. */
export class OpenApprovals {
  readonly #open = new Map<
    string,
    { readonly request: ApprovalRequestContent; readonly owner: string }
  >()

  remember(request: ApprovalRequestContent, run: KeyOwner): void {
    this.#open.set(request.id, { request, owner: keyOf('', run) })
    const [oldest] = this.#open.keys()
    if (this.#open.size > 10_000) this.#open.delete(oldest!)
  }

  find(id: string, run: KeyOwner): ApprovalRequestContent | undefined {
    const found = this.#open.get(id)
    return found?.owner === keyOf('', run) ? found?.request : undefined
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
  for (const id of answered) open.forget(id)
  if (session?.pending.some(({ id }) => answered.has(id)) === true)
    session.pending = session.pending.filter(({ id }) => !answered.has(id))
}
