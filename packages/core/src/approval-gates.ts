import type { ApprovalRequestContent, FunctionCallContent } from './content.ts'
import type { Run } from './run.ts'
import type { RunContext } from './run-context.ts'
import type { ApprovalSubject, Tool } from './tool.ts'

/** What goes with a request for an approval: why it is asked, and what is to be found there later. */
export type ApprovalNote = Pick<ApprovalRequestContent, 'reason' | 'metadata'>

/** A call that is about to run, or to wait for a person. */
export interface ApprovalQuestion extends ApprovalSubject {
  readonly tool: Tool
  /** As the model wrote it. */
  readonly call: FunctionCallContent
  /** Whether the tool itself, or an outer layer, has it wait already. */
  readonly asks: boolean
}

/** Says whether a call waits for a person; a note goes with the request. */
export type ApprovalGate = (
  question: ApprovalQuestion,
) => boolean | ApprovalNote | Promise<boolean | ApprovalNote>

/**
 * Has a run ask for approvals beyond those that its tools ask for: with ids, records and answers as
 * theirs have. A gate cannot lift what another one or the tool asks for. For an agent layer, before
 * its `callNext()`; what the gate throws fails the run.
 */
export function gateApprovals(run: RunContext, gate: ApprovalGate): void {
  const { approvalGate: outer } = run as Run
  ;(run as Run).approvalGate =
    outer === undefined
      ? gate
      : async (question) => {
          const before = await outer(question)
          return merged(
            before,
            await gate({ ...question, asks: question.asks || before !== false }),
          )
        }
}

function merged(before: boolean | ApprovalNote, after: boolean | ApprovalNote) {
  if (typeof before === 'boolean') return typeof after === 'boolean' ? before || after : after
  if (typeof after === 'boolean') return before
  return { ...before, ...after, metadata: { ...before.metadata, ...after.metadata } }
}
