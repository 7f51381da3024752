import type { Content, Message, ToolDefinition } from '@lamella/core'
import type { LocalRepair } from './read-answer.ts'
import { readAnswer } from './read-answer.ts'

/**
 * Repairs the arguments of tool calls that do not match the tools' parameters. Returns the same list if
 * nothing changed.
 */
export async function repairCalls(
  messages: readonly Message[],
  tools: readonly ToolDefinition[],
  repairs: readonly LocalRepair[],
  maxRepairChars: number,
): Promise<{ readonly messages: readonly Message[]; readonly repaired: number }> {
  let repaired = 0
  const changed: Message[] = []
  for (const message of messages) {
    const contents: Content[] = []
    for (const content of message.contents) {
      const fixed = await repairCall(content, tools, repairs, maxRepairChars)
      if (fixed !== content) repaired++
      contents.push(fixed)
    }
    changed.push({ ...message, contents })
  }
  return repaired > 0 ? { messages: changed, repaired } : { messages, repaired }
}

async function repairCall(
  content: Content,
  tools: readonly ToolDefinition[],
  repairs: readonly LocalRepair[],
  maxRepairChars: number,
): Promise<Content> {
  if (content.type !== 'function-call' || content.informational === true) return content
  const tool = tools.find(({ name }) => name === content.name)
  if (tool?.type !== 'function') return content
  const reading = await readAnswer(content.arguments || '{}', {
    schema: tool.parameters,
    repairs,
    maxRepairChars,
  })
  return reading.issues !== undefined || reading.by === 'strict'
    ? content
    : { ...content, arguments: JSON.stringify(reading.json) }
}
