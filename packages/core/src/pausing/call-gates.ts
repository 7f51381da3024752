import { isThenable } from '../base/promises.ts'
import type { ApprovalNote, ApprovalQuestion, CallGate } from '../contract/run.ts'

/** Asks the gates of a run, the first one first, whether a call waits for a person. */
export function askGates(
  gates: readonly CallGate[],
  question: ApprovalQuestion,
): boolean | ApprovalNote | Promise<boolean | ApprovalNote> {
  const [first, ...others] = gates
  if (first === undefined) return question.asks
  const given = first.approval?.(question) ?? question.asks
  const askOthers = (answer: boolean | ApprovalNote) => {
    const asks = question.asks || answer !== false
    const after = askGates(others, { ...question, asks })
    return isThenable(after) ? after.then((more) => merged(answer, more)) : merged(answer, after)
  }
  return isThenable(given) ? given.then(askOthers) : askOthers(given)
}

/** Joins two answers. The second gate has been told what the first one asks for, and asks for it as well. */
function merged(before: boolean | ApprovalNote, after: boolean | ApprovalNote) {
  if (typeof before === 'boolean') return after
  if (typeof after === 'boolean') return before
  return { ...before, ...after, metadata: { ...before.metadata, ...after.metadata } }
}
