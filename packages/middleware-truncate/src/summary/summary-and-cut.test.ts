import { Agent, messageText } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { talk } from '../turns/conversation.test-helper.ts'
import type { HistoryTruncatorOptions } from '../index.ts'
import { historyTruncator, summarizer } from '../index.ts'

/** Messages of the model when both are in the recommended order. */
async function sent(options: HistoryTruncatorOptions, stream: boolean, summary = 'In short: tea.') {
  const client = scriptedClient(() => 'Fine.')
  const writer = scriptedClient(() => summary)
  const agent = new Agent({
    client,
    middleware: [
      summarizer({ client: writer, maxMessages: 12, keepMessages: 8, prefix: 'Summary:' }),
      historyTruncator(options),
    ],
  })
  const session = agent.createSession({ messages: talk(8) })
  if (stream) await agent.run('now', { session, stream }).finalResponse()
  else await agent.run('now', { session })
  expect(messageText(session.messages[0]!)).toContain(summary)
  return client.requests[0]!.messages.map(messageText)
}

describe.each([false, true])('a summary, streamed: %s', (stream) => {
  it('outlasts the turns that came after what it stands for', async () => {
    const messages = await sent({ maxMessages: 4 }, stream)

    expect(messages).toEqual(['Summary:\n\nIn short: tea.', 'question 7', 'answer 7', 'now'])
  })

  it('gives way before a call is too long for the model', async () => {
    const messages = await sent(
      { maxTokens: 60, notice: false },
      stream,
      'word '.repeat(200).trim(),
    )

    expect(messages).toEqual(['now'])
  })
})
