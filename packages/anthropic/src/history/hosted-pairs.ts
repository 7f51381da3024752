import type { Content, Message } from '@lamella/core'
import type { Losses } from '@lamella/transport'
import { recordOf, stringOf } from '@lamella/transport'

/**
 * Leaves out what a tool of Anthropic's was asked without an answer, and answers without what was
 * asked: the API refuses both. A call in the last assistant turn may still be running: Anthropic returns
 * its result in the next answer, where only results of the application's tools stand behind the turn.
 */
export function pairHosted(messages: readonly Message[], losses: Losses): readonly Message[] {
  const asked = new Set<string>()
  const answered = new Set<string>()
  for (const { contents } of messages) {
    for (const content of contents) {
      const { asks, answers, caller } = partOf(content)
      if (asks !== undefined) asked.add(asks)
      if (answers !== undefined) answered.add(answers)
      // Code that calls the application's tools continues when it has their results.
      if (caller !== undefined) answered.add(caller)
    }
  }
  const lastTurn = startOfLastTurn(messages)
  return messages.map((message, at) => {
    const contents = message.contents.filter((content) => {
      const { asks, answers } = partOf(content)
      const isAlone =
        (asks !== undefined && !answered.has(asks) && at < lastTurn) ||
        (answers !== undefined && !asked.has(answers))
      if (isAlone) losses.add('half of what a hosted tool did is left out')
      return !isAlone
    })
    return contents.length === message.contents.length ? message : { ...message, contents }
  })
}

/** The index of the first assistant message that has nothing but its turn and tool results behind it. */
function startOfLastTurn(messages: readonly Message[]): number {
  let start = messages.findLastIndex(({ role }) => role !== 'tool') + 1
  while (messages[start - 1]?.role === 'assistant') start--
  return start
}

function partOf(content: Content): { asks?: string; answers?: string; caller?: string } {
  if (content.type === 'function-call') {
    const caller = stringOf(recordOf(recordOf(content.providerData)['caller'])['tool_id'])
    return caller === undefined ? {} : { caller }
  }
  if (content.type !== 'hosted') return {}
  const { type, id, tool_use_id: of } = recordOf(content.data)
  if (typeof type !== 'string') return {}
  if (type.endsWith('_tool_use') && typeof id === 'string') return { asks: id }
  return type.endsWith('_tool_result') && typeof of === 'string' ? { answers: of } : {}
}
