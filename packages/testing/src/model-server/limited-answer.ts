import type { ModelAnswer, ModelConversation, ModelUsage } from './model-conversation.ts'

const charsPerToken = 4

/** A rough count that is the same everywhere: a token for every four characters begun. */
function estimateTokens(text: string): number {
  return Math.ceil(text.length / charsPerToken)
}

/** Ends the text where the conversation's stop words or its limit of tokens say. */
export function limitedAnswer(
  answer: ModelAnswer,
  { maxTokens, stop }: ModelConversation,
): ModelAnswer {
  if (answer.text === undefined) return answer
  const ends = stop.filter(Boolean).map((word) => answer.text!.indexOf(word))
  const end = Math.min(...ends.filter((at) => at >= 0), answer.text.length)
  const text = answer.text.slice(0, end)
  if (maxTokens === undefined || estimateTokens(text) <= maxTokens) return { ...answer, text }
  return { ...answer, text: text.slice(0, maxTokens * charsPerToken), cut: 'length' }
}

/** Estimates what an exchange would have cost. */
export function estimateUsage(conversation: ModelConversation, answer: ModelAnswer): ModelUsage {
  const { instructions, turns, tools } = conversation
  const callText = (calls: ModelAnswer['calls'] = []): string =>
    calls.map((call) => call.name + call.arguments).join('')
  const input = [
    instructions,
    ...turns.map(({ text, calls }) => text + callText(calls)),
    ...tools.map((tool) => JSON.stringify(tool)),
  ]
  const output = (answer.text ?? '') + (answer.refusal ?? '') + callText(answer.calls)
  return {
    inputTokens: input.reduce((sum, text) => sum + estimateTokens(text), 0),
    outputTokens: estimateTokens(output),
  }
}
