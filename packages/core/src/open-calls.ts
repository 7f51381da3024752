import type { Content, FunctionCallContent, FunctionResultContent } from './content.ts'
import { errorResult } from './function-result.ts'
import type { Message } from './message.ts'

/** Calls that this process is to act on: not informational, and without a result among `messages`. */
export function openCalls(messages: readonly Message[]): readonly FunctionCallContent[] {
  let calls: FunctionCallContent[] | undefined
  let answered: Set<string> | undefined
  for (const { contents } of messages) {
    for (const content of contents) {
      if (content.type === 'function-call') {
        if (content.informational !== true) (calls ??= []).push(content)
      } else if (content.type === 'function-result') {
        ;(answered ??= new Set()).add(content.callId)
      }
    }
  }
  if (calls === undefined) return none
  return answered === undefined ? calls : calls.filter(({ callId }) => !answered.has(callId))
}

/**
 * Calls without a result, and results without a call. Ids may come again: a result belongs to the
 * last call of its id before it that has none yet.
 */
export function unpaired(messages: readonly Message[]): ReadonlySet<Content> {
  let alone: Set<Content> | undefined
  let open: Map<string, Content[]> | undefined
  for (const { contents } of messages) {
    for (const content of contents) {
      if (content.type === 'function-call') {
        open ??= new Map()
        const calls = open.get(content.callId)
        if (calls === undefined) open.set(content.callId, [content])
        else calls.push(content)
        if (content.informational !== true) (alone ??= new Set()).add(content)
      } else if (content.type === 'function-result') {
        const call = open?.get(content.callId)?.pop()
        if (call === undefined) (alone ??= new Set()).add(content)
        else alone?.delete(call)
      }
    }
  }
  return alone ?? allPaired
}

const allPaired: ReadonlySet<Content> = new Set()
/** Calls that will not run get a result too, so that the transcript stays valid. */
export function cancelledResults(
  calls: readonly FunctionCallContent[],
  why: string,
): readonly FunctionResultContent[] {
  const { contents, error } = errorResult('cancelled', why)
  return calls.map(({ callId, name }) => ({
    type: 'function-result',
    callId,
    name,
    contents,
    error,
  }))
}

const none: readonly FunctionCallContent[] = Object.freeze([])
