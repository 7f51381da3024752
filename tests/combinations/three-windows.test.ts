import {
  Agent,
  ProviderError,
  createSession,
  jsonSchema,
  text,
  tool,
} from '../../packages/core/src/index.ts'
import { fallback } from '../../packages/middleware-fallback/src/index.ts'
import { models } from '../../packages/models/src/index.ts'
import { callFunction, scriptedClient } from '../../packages/testing/src/index.ts'
import { requestTokens } from '../../packages/text/src/index.ts'
import { expect, it } from 'vitest'

import {
  contentTruncator,
  historyTruncator,
  summarizer,
} from '../../packages/middleware-truncate/src/index.ts'

const sizes = { large: 4_000, middle: 2_000, small: 1_000 } as const
type Model = keyof typeof sizes
const windows = models.extend(
  Object.fromEntries(
    Object.entries(sizes).map(([model, contextTokens]) => [model, { contextTokens }]),
  ),
)

/** A model that looks something up once for each question, and refuses what its window does not hold. */
function modelOf(name: Model) {
  let requests = 0
  return scriptedClient(
    ({ messages, instructions, options }) => {
      const { tools, responseFormat } = options
      const tokens = requestTokens({ messages, instructions, tools, responseFormat })
      if (tokens > sizes[name])
        return new ProviderError('too long', { kind: 'context_length', provider: name })
      const isRead = messages.at(-1)?.role === 'tool'
      const content = isRead
        ? text('That is what I found.')
        : callFunction('look_up', { about: 'x' }, `call_${requests++}`)
      const origin = { provider: name, model: name }
      return {
        messages: [{ role: 'assistant', contents: [content], origin }],
        usage: { inputTokens: tokens, outputTokens: 10 },
      }
    },
    { provider: name, model: name },
  )
}

it('never exceeds the window of any model in 300 turns, and keeps what the current run needs', async () => {
  let turn = 0
  const lookUp = tool({
    name: 'look_up',
    description: 'Looks something up.',
    parameters: jsonSchema({
      type: 'object',
      properties: { about: { type: 'string' } },
      required: ['about'],
    }),
    readOnly: true,
    execute: () => `fact ${turn}: ${'lorem ipsum '.repeat((turn * 37) % 400)}`,
  })
  const clients = { large: modelOf('large'), middle: modelOf('middle'), small: modelOf('small') }
  const down = scriptedClient(
    () => new ProviderError('down', { kind: 'overloaded', provider: 'down' }),
    { provider: 'down', model: 'large' },
  )
  const share = { share: 0.8, of: windows }
  const agentOn = (client: typeof down) =>
    new Agent({
      client,
      tools: [lookUp],
      middleware: [
        fallback({ clients: [clients.small] }),
        summarizer({
          maxTokens: { share: 0.6, of: windows },
          keepMessages: 4,
          client: scriptedClient(() => 'They asked and were answered.'),
        }),
        historyTruncator({ maxTokens: share }),
        contentTruncator({ maxTokens: { share: 0.3, of: windows } }),
      ],
    })
  const agents = [
    agentOn(clients.large),
    agentOn(clients.middle),
    agentOn(clients.small),
    agentOn(down),
  ]
  const session = createSession()
  for (turn = 0; turn < 300; turn++) {
    const agent = agents[(turn * 7 + (turn >> 3)) % agents.length]!
    const question = `question ${turn}`
    expect((await agent.run(question, { session })).text).toBe('That is what I found.')
    const answering = Object.values(clients).find(({ requests }) =>
      requests
        .at(-1)
        ?.messages.some(({ contents }) => JSON.stringify(contents).includes(`fact ${turn}:`)),
    )
    expect(JSON.stringify(answering?.requests.at(-1)?.messages)).toContain(question)
  }
  for (const { requests } of Object.values(clients)) expect(requests.length).toBeGreaterThan(60)
})
