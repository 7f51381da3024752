import OpenAI, { BadRequestError } from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import type { ModelServer, ModelServerOptions } from '../model-server.ts'
import { startModelServer } from '../model-server.ts'

const servers: ModelServer[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

async function start(
  options: ModelServerOptions = {},
): Promise<{ server: ModelServer; client: OpenAI }> {
  const server = await startModelServer(options)
  servers.push(server)
  const client = new OpenAI({ baseURL: server.baseURL, apiKey: 'any', maxRetries: 0 })
  return { server, client }
}

const model = 'lamella-stand-in'
const messages = [{ role: 'user', content: 'Who are you?' }] as const
const weather = {
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] } },
    required: ['city'],
  },
}

describe('over Chat Completions', () => {
  const tools = [{ type: 'function', function: weather }] as const

  it('says what it is, plain and streaming alike', async () => {
    const { client } = await start({ chunkChars: 5 })

    const { data: plain, response } = await client.chat.completions
      .create({ model, messages: [...messages] })
      .withResponse()
    const streamed = client.chat.completions.stream({ model, messages: [...messages] })
    const final = await streamed.finalChatCompletion()

    expect(plain.choices[0]?.message.content).toContain('deterministic stand-in')
    expect(plain.model).toBe('lamella-stand-in')
    expect(response.headers.get('x-lamella-stand-in')).toBe('true')
    expect(final.choices[0]?.message.content).toBe(plain.choices[0]?.message.content)
    expect(final.choices[0]?.finish_reason).toBe('stop')
  })

  it('counts usage, in streams when asked', async () => {
    const { client } = await start()

    const plain = await client.chat.completions.create({ model, messages: [...messages] })
    const chunks: OpenAI.ChatCompletionChunk[] = []
    for await (const chunk of await client.chat.completions.create({
      model,
      messages: [...messages],
      stream: true,
      stream_options: { include_usage: true },
    })) {
      chunks.push(chunk)
    }

    expect(plain.usage?.prompt_tokens).toBe(3)
    expect(plain.usage?.total_tokens).toBe(3 + plain.usage!.completion_tokens)
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: plain.usage })
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true)
  })

  it('calls parallel tools, in whole and in pieces, and answers from their results', async () => {
    const { client } = await start({ chunkChars: 3 })
    const asked = [{ role: 'user', content: 'What is the weather in Rome and in Paris?' }] as const

    const plain = await client.chat.completions.create({
      model,
      messages: [...asked],
      tools: [...tools],
    })
    const streamed = await client.chat.completions
      .stream({ model, messages: [...asked], tools: [...tools] })
      .finalChatCompletion()
    const message = plain.choices[0]!.message
    const answered = await client.chat.completions.create({
      model,
      tools: [...tools],
      messages: [
        ...asked,
        message,
        ...message.tool_calls!.map(({ id }, index) => ({
          role: 'tool' as const,
          tool_call_id: id,
          content: JSON.stringify({ temperature: 20 + index }),
        })),
      ],
    })

    expect(plain.choices[0]?.finish_reason).toBe('tool_calls')
    expect(message.tool_calls).toMatchObject([
      { type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } },
      { type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
    ])
    expect(streamed.choices[0]?.message.tool_calls).toMatchObject(message.tool_calls!)
    expect(answered.choices[0]?.message.content).toBe(
      'get_weather says: {"temperature":20}\nget_weather says: {"temperature":21}',
    )
  })

  it('runs the tool loop of the SDK to its end', async () => {
    const { client } = await start()

    const runner = client.chat.completions.runTools({
      model,
      messages: [{ role: 'user', content: 'How is the weather in Rome?' }],
      tools: [
        {
          type: 'function',
          function: {
            ...weather,
            parse: JSON.parse,
            function: ({ city }: { city: string }) => `It is sunny in ${city}.`,
          },
        },
      ],
    })

    expect(await runner.finalContent()).toBe('get_weather says: It is sunny in Rome.')
  })

  it('answers in JSON that fits the schema that was asked for', async () => {
    const { client } = await start()

    const { choices } = await client.chat.completions.create({
      model,
      messages: [...messages],
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'reply',
          schema: {
            type: 'object',
            properties: {
              text: { type: 'string' },
              mood: { enum: ['calm', 'cross'] },
              score: { type: 'integer', minimum: 1 },
              tags: { type: 'array', items: { $ref: '#/$defs/tag' } },
            },
            $defs: { tag: { type: 'string', maxLength: 4 } },
          },
        },
      },
    })

    const value = JSON.parse(choices[0]!.message.content!) as Record<string, unknown>
    expect(value).toMatchObject({ mood: 'calm', score: 1, tags: ['I am'] })
    expect(value['text']).toContain('stand-in')
  })

  it('stops at the limit of tokens and at a stop word', async () => {
    const { client } = await start()
    const ask = (body: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>) =>
      client.chat.completions.create({ model, messages: [...messages], ...body })

    const short = await ask({ max_completion_tokens: 2 })
    const stopped = await ask({ stop: ', a' })

    expect(short.choices[0]).toMatchObject({
      finish_reason: 'length',
      message: { content: 'I am lam' },
    })
    expect(stopped.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'I am lamella-stand-in' },
    })
  })

  it.for<[string, object, RegExp]>([
    ['without a model', { messages }, /Missing required parameter: 'model'/],
    ['without messages', { model, messages: [] }, /empty array/],
    [
      'with an unanswered call',
      {
        model,
        messages: [
          ...messages,
          {
            role: 'assistant',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          { role: 'user', content: 'and?' },
        ],
      },
      /did not have response messages: c/,
    ],
    [
      'with a result of no call',
      { model, messages: [...messages, { role: 'tool', tool_call_id: 'c', content: '' }] },
      /must be a response to a preceeding message/,
    ],
    ['with a role of its own', { model, messages: [{ role: 'bot', content: '' }] }, /'bot'/],
    [
      'with the choice of a tool that is not offered',
      { model, messages, tool_choice: { type: 'function', function: { name: 'f' } } },
      /not found in 'tools'/,
    ],
  ])('refuses a request %s', async ([, body, message]) => {
    const { client } = await start()

    const refused = client.chat.completions.create(body as never)

    await expect(refused).rejects.toThrow(BadRequestError)
    await expect(refused).rejects.toThrow(message)
  })
})

describe('over Responses', () => {
  const tools = [{ type: 'function', strict: true, ...weather }] as const

  it('streams what it answers in whole, through the accumulator of the SDK', async () => {
    const { client } = await start({ chunkChars: 7 })
    const types = new Set<string>()

    const plain = await client.responses.create({ model, input: 'Who are you?' })
    const stream = client.responses.stream({ model, input: 'Who are you?' })
    for await (const { type } of stream) types.add(type)
    const final = await stream.finalResponse()

    expect(plain.output_text).toContain('deterministic stand-in')
    expect(plain.model).toBe('lamella-stand-in')
    expect(final.output_text).toBe(plain.output_text)
    expect(final.usage).toEqual(plain.usage)
    expect([...types]).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
  })

  it('calls tools and continues from their results, stateless and by the id of the response', async () => {
    const { client } = await start({ chunkChars: 4 })
    const input = [{ role: 'user', content: 'What is the weather in Rome and in Paris?' }] as const

    const plain = await client.responses.create({ model, input: [...input], tools: [...tools] })
    const streamed = await client.responses
      .stream({ model, input: [...input], tools: [...tools] })
      .finalResponse()
    const results = plain.output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: 'sunny' }]
        : [],
    )
    const stateless = await client.responses.create({
      model,
      tools: [...tools],
      input: [...input, ...plain.output, ...results] as OpenAI.Responses.ResponseInput,
    })
    const stateful = await client.responses.create({
      model,
      tools: [...tools],
      previous_response_id: plain.id,
      input: results,
    })

    expect(plain.output).toMatchObject([
      { type: 'function_call', name: 'get_weather', arguments: '{"city":"Rome"}' },
      { type: 'function_call', name: 'get_weather', arguments: '{"city":"Paris"}' },
    ])
    expect(streamed.output).toMatchObject(
      plain.output.map((item) => ({ ...item, id: expect.any(String) as string })),
    )
    expect(stateless.output_text).toBe('get_weather says: sunny\nget_weather says: sunny')
    expect(stateful.output_text).toBe(stateless.output_text)
  })

  it('sends refusals as such, in whole and in pieces', async () => {
    const { client } = await start({
      answer: () => ({ refusal: 'No, I will not.' }),
      chunkChars: 4,
    })

    const plain = await client.responses.create({ model, input: 'x' })
    const streamed = await client.responses.stream({ model, input: 'x' }).finalResponse()
    const chat = await client.chat.completions
      .stream({ model, messages: [...messages] })
      .finalChatCompletion()

    const content = [{ type: 'refusal', refusal: 'No, I will not.' }]
    expect(plain.output).toMatchObject([{ content }])
    expect(streamed.output).toMatchObject([{ content }])
    expect(chat.choices[0]?.message.refusal).toBe('No, I will not.')
  })

  it('ends as incomplete at the limit of tokens', async () => {
    const { client } = await start()
    const body = { model, input: 'Who are you?', max_output_tokens: 2 }

    const plain = await client.responses.create(body)
    const streamed = await client.responses.stream(body).finalResponse()

    for (const response of [plain, streamed]) {
      expect(response).toMatchObject({
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        output_text: 'I am lam',
      })
    }
  })

  it.for<[string, object, RegExp]>([
    ['without input', { model }, /Missing required parameter: 'input'/],
    [
      'with an unanswered call',
      { model, input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }] },
      /No tool output found for function call c/,
    ],
    [
      'with an output of no call',
      { model, input: [{ type: 'function_call_output', call_id: 'c', output: '' }] },
      /No tool call found/,
    ],
    [
      'that continues an unknown response',
      { model, input: 'x', previous_response_id: 'resp_x' },
      /'resp_x' not found/,
    ],
  ])('refuses a request %s', async ([, body, message]) => {
    const { client } = await start()

    await expect(client.responses.create(body as never)).rejects.toThrow(message)
  })
})
