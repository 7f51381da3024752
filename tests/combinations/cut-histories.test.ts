import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AnthropicChatClient } from '../../packages/anthropic/src/index.ts'
import { conversation } from '../../packages/middleware-truncate/src/turns/conversation.test-helper.ts'
import { historyTruncator } from '../../packages/middleware-truncate/src/index.ts'
import { OpenAIChatClient, OpenAIChatCompletionsClient } from '../../packages/openai/src/index.ts'
import { runChatMiddleware } from '../../packages/testing/src/index.ts'

const apiKey = 'test-key'
const clients = [
  new OpenAIChatClient({ apiKey, model: 'm' }),
  new OpenAIChatCompletionsClient({ apiKey, model: 'm' }),
  new AnthropicChatClient({ apiKey, model: 'm' }),
]

/** Conversations in which every user says something: a message without words is no opening. */
const spoken = conversation.filter((messages) =>
  messages.every(({ role, contents }) => {
    const words = contents.map((part) => (part.type === 'text' ? part.text.trim() : part.type))
    return role !== 'user' || words.join('') !== ''
  }),
)

test('a history that was cut needs no repair by any provider', async () => {
  const limits = fc.record({
    maxMessages: fc.integer({ min: 1, max: 20 }),
    keep: fc.record({ currentRun: fc.boolean(), firstUser: fc.boolean() }),
  })
  await fc.assert(
    fc.asyncProperty(spoken, limits, async (messages, options) => {
      const { innerCalls } = await runChatMiddleware(historyTruncator(options), { input: messages })
      const sent = innerCalls[0]!.messages.map((entry) => ({
        ...entry,
        // Thoughts of nobody are shown to nobody.
        contents: entry.contents.filter(({ type }) => type !== 'reasoning'),
      }))

      for (const client of clients) {
        const { losses } = client.canContinue(sent)
        const repairs = losses.filter((loss) => /result|opening|empty/.test(loss))
        expect(repairs).toEqual([])
        const prepared = client.prepareHistory(sent)
        expect(prepared.some(({ id }) => id.endsWith('-opening'))).toBe(false)
        expect(JSON.stringify(prepared)).not.toContain('No result of this call was recorded')
      }
    }),
    { numRuns: 100 },
  )
})
