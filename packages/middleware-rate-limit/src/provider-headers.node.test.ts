import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AnthropicChatClient } from '@lamella/anthropic'
import type { ChatClient } from '@lamella/core'
import { Agent } from '@lamella/core'
import { OpenAIChatCompletionsClient } from '@lamella/openai'
import { testClock } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { failure } from './limited-agent.test-helper.ts'
import { rateLimit } from './index.ts'

interface Answer {
  readonly status?: number
  readonly headers: Readonly<Record<string, string>>
}

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const message = { role: 'assistant', content: 'Hi.' }
const completion = { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] }
const anthropicMessage = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hi.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}

/** A server that gives these answers, one after the other, and the limiter in front of it. */
async function connect(
  makeClient: (baseURL: string) => ChatClient,
  body: object,
  answers: readonly Answer[],
) {
  let requests = 0
  const server = createServer((_, response) => {
    const { status = 200, headers } = answers[Math.min(requests++, answers.length - 1)]!
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(status === 200 ? body : { error: { message: 'Slow down.' } }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const clock = testClock(Date.now())
  const limits = [{ unit: 'requests', limit: 100, windowMs: 60_000 } as const]
  const agent = new Agent({
    client: makeClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    middleware: rateLimit({ limits, onLimit: 'reject', clock }),
    options: { transportRetries: 0 },
  })
  return {
    agent,
    clock,
    get requests() {
      return requests
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

const providers = [
  {
    provider: 'OpenAI',
    make: (baseURL: string) =>
      new OpenAIChatCompletionsClient({ baseURL, apiKey: 'any', model: 'm' }),
    body: { ...completion, usage },
    left: (count: number) => ({
      'x-ratelimit-limit-requests': '100',
      'x-ratelimit-remaining-requests': `${count}`,
      'x-ratelimit-reset-requests': '30s',
    }),
  },
  {
    provider: 'Anthropic',
    make: (baseURL: string) => new AnthropicChatClient({ baseURL, apiKey: 'any', model: 'm' }),
    body: anthropicMessage,
    left: (count: number) => ({
      'anthropic-ratelimit-requests-limit': '100',
      'anthropic-ratelimit-requests-remaining': `${count}`,
      'anthropic-ratelimit-requests-reset': new Date(Date.now() + 30_000).toISOString(),
    }),
  },
]

describe.each(providers)('behind $provider', ({ make, body, left }) => {
  it('what its headers say is left is all that is sent', async () => {
    await using subject = await connect(make, body, [{ headers: left(2) }, { headers: {} }])
    const { agent, clock } = subject
    for (let turn = 0; turn < 3; turn++) await agent.run('Hi')

    const over = await failure(agent.run('Hi'))
    await clock.advance(31_000)
    await agent.run('Hi')

    expect(over).toMatchObject({ code: 'rate_limited', unit: 'requests' })
    expect(subject.requests).toBe(4)
  })

  it('nothing is sent after a 429, for as long as it says', async () => {
    const headers = { 'retry-after': '7' }
    await using subject = await connect(make, body, [{ status: 429, headers }, { headers: {} }])
    const { agent, clock } = subject
    await failure(agent.run('Hi'))

    const tooSoon = await failure(agent.run('Hi'))
    await clock.advance(7000)
    await agent.run('Hi')

    expect(tooSoon).toMatchObject({ code: 'rate_limited', retryAfterMs: 7000 })
    expect(subject.requests).toBe(2)
  })
})
