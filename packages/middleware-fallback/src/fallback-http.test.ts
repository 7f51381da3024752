import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import { AnthropicChatClient } from '@lamella/anthropic'
import { Agent, BaseChatClient, chatResponse, jsonSchema, tool } from '@lamella/core'
import type {
  ChatClient,
  ChatRequest,
  ChatResponse,
  ChatResponseUpdate,
  Message,
} from '@lamella/core'
import { OpenAIChatClient, OpenAIChatCompletionsClient } from '@lamella/openai'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { startModelServer } from '@lamella/testing/model-server'
import type { ModelServer, ModelServerFailure } from '@lamella/testing/model-server'
import { describe, expect, it } from 'vitest'
import { fallback } from './index.ts'
import { failure, readUpdates } from './failing-run.test-helper.ts'

const weather = tool({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  parameters: jsonSchema({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  }),
  execute: ({ city }) => `sunny in ${String(city)}`,
})
const question = 'What is the weather in Rome?'

/** A server that fails from its `healthy`-th request on. */
const serverOf = (
  healthy: number,
  failing: ModelServerFailure = { status: 503 },
): Promise<ModelServer> =>
  startModelServer({ failures: ({ index }) => (index < healthy ? undefined : failing) })

const responses = ({ baseURL }: ModelServer): ChatClient =>
  new OpenAIChatClient({ baseURL, model: 'm', apiKey: 'k' })
const completions = ({ baseURL }: ModelServer): ChatClient =>
  new OpenAIChatCompletionsClient({ baseURL, model: 'm', apiKey: 'k', provider: 'other' })

describe.each(runModes)('fallback between real servers, %s', (mode) => {
  it.each([
    ['Responses', 'Chat Completions', responses, completions],
    ['Chat Completions', 'Responses', completions, responses],
  ])('in the middle of a tool conversation, from %s to %s', async (_, __, from, to) => {
    await using first = await serverOf(1)
    await using second = await serverOf(9)
    const middleware = fallback({ clients: [to(second)] })
    const options = { transportRetries: 0 }
    const agent = new Agent({
      client: from(first),
      tools: [weather],
      middleware: middleware,
      options,
    })
    const session = agent.createSession()

    const running = runIn(mode, agent, { input: question, session })

    // The server refuses, as the API does, a history with a call that has no result.
    expect((await running).text).toContain('sunny in Rome')
    expect([first.requests.length, second.requests.length]).toEqual([2, 1])
    expect(second.requests[0]?.status).toBe(200)
    const again = await agent.run('And who are you?', { session })
    expect(again.text).not.toBe('')
  })

  it('gives a client that must be told a history that is valid for it', async () => {
    const seen: (readonly Message[])[] = []
    class Picky extends BaseChatClient {
      readonly provider = 'picky'
      prepareHistory(messages: readonly Message[]): readonly Message[] {
        return messages.filter(({ contents }) => contents.every(({ type }) => type !== 'reasoning'))
      }
      async respond({ messages }: ChatRequest): Promise<ChatResponse> {
        seen.push(messages)
        return chatResponse('Done.')
      }
      async *stream(request: ChatRequest): AsyncGenerator<ChatResponseUpdate> {
        const { messages } = await this.respond(request)
        yield { contents: messages[0]?.contents ?? [], finishReason: 'stop' }
      }
      canContinue() {
        return { ok: false, losses: ['reasoning'] }
      }
    }
    const thinking: Message = {
      id: 'm',
      role: 'assistant',
      contents: [{ type: 'reasoning', text: 'Hm.' }],
    }
    const own = scriptedClient([
      {
        messages: [
          thinking,
          {
            id: 'n',
            role: 'assistant',
            contents: [callFunction('get_weather', { city: 'Rome' }, 'c')],
          },
        ],
      },
      failure('server'),
    ])
    const events: unknown[] = []
    const middleware = fallback({ clients: [new Picky()], onEvent: (event) => events.push(event) })

    const response = await runIn(
      mode,
      new Agent({ client: own, tools: [weather], middleware: middleware }),
    )

    expect(response.text).toBe('Done.')
    expect(seen.map((messages) => messages.map(({ role }) => role))).toEqual([
      ['user', 'assistant', 'tool'],
    ])
    expect(events[0]).toMatchObject({ status: 'switching', losses: ['reasoning'] })
  })

  it('from OpenAI to Anthropic, in the middle of a tool conversation', async () => {
    await using first = await serverOf(1)
    const bodies: Record<string, unknown>[] = []
    const answer = anthropicAnswer(mode === 'streamed')
    const server = createServer((incoming, outgoing) => {
      const chunks: Uint8Array[] = []
      incoming.on('data', (chunk: Uint8Array) => chunks.push(chunk))
      incoming.on('end', () => {
        bodies.push(JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>)
        outgoing.writeHead(200, { 'content-type': answer.type })
        outgoing.end(answer.body)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const claude = new AnthropicChatClient({
      baseURL: `http://127.0.0.1:${port}`,
      apiKey: 'k',
      model: 'claude',
    })
    const middleware = fallback({ clients: [claude] })
    const options = { transportRetries: 0, model: 'gpt' }
    const agent = new Agent({
      client: responses(first),
      tools: [weather],
      middleware: middleware,
      options,
    })

    const response = await runIn(mode, agent, { input: question })

    expect(response.text).toBe('It is sunny.')
    expect(bodies).toHaveLength(1)
    expect(bodies[0]).toMatchObject({
      model: 'claude',
      messages: [
        { role: 'user' },
        { role: 'assistant', content: [{ type: 'tool_use', name: 'get_weather' }] },
        { role: 'user', content: [{ type: 'tool_result' }] },
      ],
    })
    server.closeAllConnections()
    server.close()
  })
})

it.each([3, 5, 8, 12])(
  'a stream cut after %d events is continued, in one answer',
  async (events) => {
    const answer = 'The quick brown fox jumps over the lazy dog, and over the fence, and is gone.'
    await using first = await startModelServer({
      failures: [{ cutAfterEvents: events }],
      answer: () => ({ text: answer }),
    })
    await using second = await startModelServer({
      // A model that does as it is told: it says what is missing.
      answer: (_, { body }) => {
        const said = /"(The quick[^"]*)"/.exec(JSON.stringify(body))?.[1] ?? ''
        return { text: answer.slice(said.length) }
      },
    })
    const middleware = fallback({ clients: [completions(second)], midStream: 'continue' })
    const agent = new Agent({
      client: completions(first),
      middleware: middleware,
      options: { transportRetries: 0 },
    })

    const { partial, texts, restart } = await readUpdates(agent)

    expect(partial?.text).toBe(answer)
    expect(texts.slice(restart + 1).join('')).toBe(answer)
  },
)

function anthropicAnswer(isStream: boolean): { readonly type: string; readonly body: string } {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude' }
  const usage = { input_tokens: 1, output_tokens: 1 }
  if (!isStream) {
    const content = [{ type: 'text', text: 'It is sunny.' }]
    const body = { ...message, content, stop_reason: 'end_turn', stop_sequence: null, usage }
    return { type: 'application/json', body: JSON.stringify(body) }
  }
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'It is sunny.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  return { type: 'text/event-stream', body: body.join('') }
}
