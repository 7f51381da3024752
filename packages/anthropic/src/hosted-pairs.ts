import type { Content, Message } from '@lamella/core'
import type { Losses } from '@lamella/core/transport'
import { recordOf, stringOf } from '@lamella/core/transport'

/**
 * Leaves out what a tool of Anthropic's was asked without an answer, and answers without what was
 * asked: the API refuses both. At the very end of the history the model may still be at it.
 */
export function pairHosted(messages: readonly Message[], losses: Losses): readonly Message[] {
  const asked = new Set<string>()
  const answered = new Set<string>()
  for (const { contents } of messages) {
    for (const content of contents) {
      const { asks, answers, caller } = partOf(content)
      if (asks !== undefined) asked.add(asks)
      if (answers !== undefined) answered.add(answers)
      // Code that calls the application's tools goes on when it has their results.
      if (caller !== undefined) answered.add(caller)
    }
  }
  const last = messages.at(-1)
  return messages.map((message) => {
    const contents = message.contents.filter((content) => {
      const { asks, answers } = partOf(content)
      const isAlone =
        (asks !== undefined && !answered.has(asks) && message !== last) ||
        (answers !== undefined && !asked.has(answers))
      if (isAlone) losses.add('half of what a hosted tool did is left out')
      return !isAlone
    })
    return contents.length === message.contents.length ? message : { ...message, contents }
  })
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
