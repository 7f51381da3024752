import type { ChatRequest, Content } from '@lamella/core'
import { textOf, visibleHistory } from '@lamella/core'

/** Body of a request. */
export function toBody(
  { messages, instructions, options }: Omit<ChatRequest, 'signal'>,
  model: string,
  stream: boolean,
) {
  return {
    model: options.model ?? model,
    stream,
    instructions,
    messages: visibleHistory(messages).map(({ role, contents }) => ({
      role,
      text: textOf(contents),
      calls: contents.flatMap(callOf),
      results: contents.flatMap(resultOf),
    })),
    tools: options.tools?.flatMap((tool) =>
      tool.type === 'function'
        ? [{ name: tool.name, description: tool.description, parameters: tool.jsonSchema }]
        : [],
    ),
    toolChoice: options.toolChoice,
    temperature: options.temperature,
    maxOutputTokens: options.maxOutputTokens,
  }
}

function callOf(content: Content) {
  if (content.type !== 'function-call') return []
  return [{ id: content.callId, name: content.name, arguments: content.arguments }]
}

function resultOf(content: Content) {
  if (content.type !== 'function-result') return []
  return [{ id: content.callId, text: textOf(content.contents) }]
}
