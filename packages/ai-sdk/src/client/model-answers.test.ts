import type { ChatResponse } from '@lamella/core'
import { Agent, jsonSchema, message, tool } from '@lamella/core'
import { runIn, runModes } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import type { MockStep } from '../../fixtures/ai-lines.ts'
import { mockModel } from '../../fixtures/ai-lines.ts'
import { aiSdk } from '../index.ts'

type Mode = (typeof runModes)[number]

const versions = ['v2', 'v3', 'v4'] as const
const cases = versions.flatMap((version) => runModes.map((mode) => ({ version, mode })))

async function ask(
  client: ReturnType<typeof aiSdk>,
  mode: Mode,
  options = {},
): Promise<ChatResponse> {
  if (mode === 'plain') return client.getResponse('Hi', options)
  return client.getResponse('Hi', { ...options, stream: true }).finalResponse()
}

describe.each(cases)('a model of $version, $mode', ({ version, mode }) => {
  const setUp = (...steps: MockStep[]) => {
    const { model, calls } = mockModel(version, steps)
    return { client: aiSdk(model), calls }
  }

  test('tells usage, model, id and how the answer ended', async () => {
    const { client } = setUp({ content: [{ type: 'text', text: 'Hi.' }], finish: 'length' })

    const response = await ask(client, mode)

    expect(response).toMatchObject({
      text: 'Hi.',
      id: 'resp-1',
      model: 'mock-model-1',
      finishReason: 'length',
      usage: {
        inputTokens: 9,
        outputTokens: 3,
        totalTokens: 12,
        cachedInputTokens: 3,
        reasoningTokens: 1,
      },
    })
    expect(response.usage.cacheWriteTokens).toBe(version === 'v2' ? undefined : 2)
    expect(response.messages[0]).toMatchObject({
      createdAt: '1970-01-01T00:00:00.000Z',
      origin: { provider: 'mock.chat', model: 'mock-model' },
    })
  })

  test('a signed thought and a signed call go back as they came, only to their model', async () => {
    const signature = { mock: { signature: 'opaque' } }
    const content = [
      { type: 'reasoning', text: 'Hm.', providerMetadata: signature },
      {
        type: 'tool-call',
        toolCallId: 'call 1',
        toolName: 'look_up',
        input: '{"q":"x"}',
        providerMetadata: signature,
      },
    ]
    const { client, calls } = setUp(
      { content, finish: 'tool-calls' },
      { content: [{ type: 'text', text: 'Done.' }] },
    )
    const other = mockModel(version, [{ content: [{ type: 'text', text: 'Else.' }] }])
    const lookUp = tool({ name: 'look_up', description: '', execute: () => 'found' })

    const first = await runIn(mode, new Agent({ client, tools: [lookUp] }), { input: 'Hi' })
    const elsewhere = Object.assign(Object.create(other.model) as object, { provider: 'else.chat' })
    await aiSdk(elsewhere as never).getResponse([...first.messages, message('user', 'And?')])

    expect(first.text).toBe('Done.')
    expect(calls[1]?.['prompt']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: signature },
          {
            type: 'tool-call',
            toolCallId: 'call 1',
            toolName: 'look_up',
            input: { q: 'x' },
            providerOptions: signature,
          },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'call 1',
            toolName: 'look_up',
            output: { type: 'text', value: 'found' },
          },
        ],
      },
    ])
    expect(JSON.stringify(other.calls)).not.toContain('opaque')
    expect(JSON.stringify(other.calls)).toContain('found')
  })

  test('what the provider ran itself is kept, never executed, and replayed', async () => {
    const run = { toolCallId: 'srv_1', toolName: 'web_search', providerExecuted: true }
    const { client, calls } = setUp({
      content: [
        { type: 'tool-call', ...run, input: '{"query":"x"}' },
        { type: 'tool-result', ...run, result: { found: 1 } },
        { type: 'text', text: 'Found.' },
        { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com', title: 'A page' },
      ],
    })

    const response = await ask(client, mode)
    await client.getResponse([message('user', 'Hi'), ...response.messages, message('user', 'And?')])

    expect(response.functionCalls).toEqual([])
    const [contents] = response.messages.map((each) => each.contents)
    expect(contents?.map(({ type }) => type)).toEqual(['hosted', 'hosted', 'text'])
    expect(contents?.[2]?.annotations).toMatchObject([
      { type: 'source', uri: 'https://example.com', title: 'A page' },
    ])
    expect(calls[1]?.['prompt']).toMatchObject([
      {},
      {
        role: 'assistant',
        content: [
          { type: 'tool-call', toolCallId: 'srv_1', input: { query: 'x' }, providerExecuted: true },
          {
            type: 'tool-result',
            toolCallId: 'srv_1',
            output: { type: 'json', value: { found: 1 } },
          },
          { type: 'text', text: 'Found.' },
        ],
      },
      {},
    ])
  })

  test('a file that the model made is a file', async () => {
    const bytes = new Uint8Array([104, 105])
    const data = version === 'v4' ? { type: 'data', data: bytes } : bytes
    const { client } = setUp({ content: [{ type: 'file', mediaType: 'image/png', data }] })

    const { messages } = await ask(client, mode)

    expect(messages[0]?.contents).toEqual([{ type: 'data', mediaType: 'image/png', data: 'aGk=' }])
  })

  test('texts with data of their own stay apart', async () => {
    const said = (text: string) => ({
      type: 'text',
      text,
      providerMetadata: { mock: { itemId: `msg of ${text}` } },
    })
    const { client, calls } = setUp({ content: [said('One.'), said('Two.')] })

    const response = await ask(client, mode)
    await client.getResponse([message('user', 'Hi'), ...response.messages, message('user', 'And?')])

    expect(response.text).toBe('One.Two.')
    expect(calls[1]?.['prompt']).toMatchObject([
      {},
      {
        content: [
          { text: 'One.', providerOptions: { mock: { itemId: 'msg of One.' } } },
          { text: 'Two.', providerOptions: { mock: { itemId: 'msg of Two.' } } },
        ],
      },
      {},
    ])
  })

  test('options go to the model in its own words', async () => {
    const { client, calls } = setUp({ content: [{ type: 'text', text: '{}' }] })
    const lookUp = tool({
      name: 'look_up',
      description: 'Looks up.',
      metadata: { aiSdk: { strict: true } },
    })
    const search = {
      type: 'hosted' as const,
      name: 'web_search',
      definition: { id: 'mock.web_search', args: { size: 'low' } },
    }

    const { metadata } = await ask(client, mode, {
      instructions: 'Be brief.',
      temperature: 0,
      topP: 0.5,
      seed: 7,
      maxOutputTokens: 99,
      stop: ['END'],
      user: 'eve',
      reasoning: { effort: 'low' },
      tools: [lookUp, search],
      toolChoice: { mode: 'required', functionName: 'look_up' },
      responseFormat: { schema: jsonSchema({ type: 'object' }), name: 'answer' },
      providerOptions: { mock: { tier: 'flex' }, aiSdk: { topK: 3 } },
    })

    expect(calls[0]).toMatchObject({
      prompt: [{ role: 'system', content: 'Be brief.' }, { role: 'user' }],
      temperature: 0,
      topP: 0.5,
      topK: 3,
      seed: 7,
      maxOutputTokens: 99,
      stopSequences: ['END'],
      tools: [
        { type: 'function', name: 'look_up', description: 'Looks up.', strict: true },
        {
          type: version === 'v2' ? 'provider-defined' : 'provider',
          id: 'mock.web_search',
          args: { size: 'low' },
        },
      ],
      toolChoice: { type: 'tool', toolName: 'look_up' },
      responseFormat: { type: 'json', schema: { type: 'object' }, name: 'answer' },
      providerOptions: { mock: { tier: 'flex' } },
    })
    expect(calls[0]?.['reasoning']).toBe(version === 'v4' ? 'low' : undefined)
    expect(calls[0]?.['providerOptions']).not.toHaveProperty('aiSdk')
    expect(metadata['ignoredOptions']).toEqual(version === 'v4' ? ['user'] : ['user', 'reasoning'])
  })

  test('the answer tells what of the history its model was not sent', async () => {
    const { client } = setUp({ content: [{ type: 'text', text: 'Ok.' }] })
    const theirs = { provider: 'other' }
    const history = [
      message('user', 'Hi'),
      message('assistant', [{ type: 'reasoning', text: 'Hm.', origin: theirs }]),
      message('user', 'And?'),
    ]

    const { metadata } =
      mode === 'plain'
        ? await client.getResponse(history)
        : await client.getResponse(history, { stream: true }).finalResponse()

    expect(metadata['losses']).toEqual(['reasoning of other is left out'])
  })

  test('results of tools go to the model by their kind', async () => {
    const { client, calls } = setUp({ content: [{ type: 'text', text: 'Ok.' }] })
    const call = (callId: string) =>
      ({ type: 'function-call', callId, name: 'act', arguments: '{}' }) as const
    const result = (callId: string, more: object) =>
      ({ type: 'function-result', callId, contents: [], ...more }) as const
    const image = { type: 'data', mediaType: 'image/png', data: 'aGk=' }

    await client.getResponse([
      message('user', 'Hi'),
      message('assistant', ['a', 'b', 'c'].map(call)),
      message('tool', [
        result('a', { contents: [{ type: 'text', text: 'see' }, image] }),
        result('b', {
          contents: [{ type: 'text', text: 'Not allowed.' }],
          error: { code: 'denied', message: '' },
        }),
        result('c', { error: { code: 'tool_failed', message: 'secret' } }),
      ] as never),
    ])

    const results = promptOf(calls[0]).at(-1)?.content ?? []
    const file = {
      v2: { type: 'media', data: 'aGk=', mediaType: 'image/png' },
      v3: { type: 'image-data', data: 'aGk=', mediaType: 'image/png' },
      v4: { type: 'file', data: { type: 'data', data: 'aGk=' }, mediaType: 'image/png' },
    }[version]
    expect(results.map(({ output }) => output)).toEqual([
      { type: 'content', value: [{ type: 'text', text: 'see' }, file] },
      version === 'v2'
        ? { type: 'error-text', value: 'Not allowed.' }
        : { type: 'execution-denied', reason: 'Not allowed.' },
      { type: 'error-text', value: 'The tool failed: tool_failed.' },
    ])
  })

  test('approvals of hosted tools are asked and answered', async () => {
    const run = { toolCallId: 'srv_1', toolName: 'buy', providerExecuted: true }
    const { client, calls } = setUp({
      content: [
        { type: 'tool-call', ...run, input: '{"what":"fish"}' },
        { type: 'tool-approval-request', approvalId: 'ask_1', toolCallId: 'srv_1' },
      ],
    })

    const { messages } = await ask(client, mode)
    const answer = { type: 'approval-response', id: 'ask_1', approved: true, hosted: true } as const
    const stray = { ...answer, id: 'ask_2' }
    await client.getResponse([message('user', 'Hi'), ...messages, message('user', [answer, stray])])

    expect(messages[0]?.contents[1]).toMatchObject({
      type: 'approval-request',
      id: 'ask_1',
      hosted: true,
      call: { name: 'buy', arguments: '{"what":"fish"}', informational: true },
    })
    expect(promptOf(calls[1]).at(-1)).toEqual({
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId: 'ask_1', approved: true }],
    })
  })

  test('another model than its own is refused', async () => {
    const { client, calls } = setUp({ content: [{ type: 'text', text: 'Hi.' }] })

    await expect(ask(client, mode, { model: 'another' })).rejects.toMatchObject({
      kind: 'invalid_request',
      message: expect.stringContaining('bound to the model mock-model'),
    })
    await expect(ask(client, mode, { providerOptions: { aiSdk: { topk: 3 } } })).rejects.toThrow(
      /`topk`.*`topK`/,
    )
    expect(calls).toHaveLength(0)
  })
})

describe('links', () => {
  const link = { type: 'uri', uri: 'https://example.com/a.pdf' } as const

  test.each(versions)(
    'that a model of %s opens go as links, others as text or as files',
    async (version) => {
      const opens = mockModel(version, [{}])
      const supportedUrls = { value: Promise.resolve({ 'application/*': [/^https:/g] }) }
      const does = Object.create(opens.model, { supportedUrls }) as typeof opens.model
      const shut = mockModel(version, [{}])
      const loads = mockModel(version, [{}])
      const download = async (url: URL) => ({ data: new TextEncoder().encode(url.host) })

      await aiSdk(does).getResponse(link)
      await aiSdk(shut.model).getResponse(link)
      await aiSdk(loads.model, { download }).getResponse(link)

      const url = new URL(link.uri)
      const bytes = new TextEncoder().encode('example.com')
      const sent = [opens, shut, loads].map(({ calls }) => calls[0]?.['prompt'])
      expect(sent).toEqual([
        [{ role: 'user', content: [file(version === 'v4' ? { type: 'url', url } : url)] }],
        [{ role: 'user', content: [{ type: 'text', text: `[file: ${link.uri}]` }] }],
        [
          {
            role: 'user',
            content: [file(version === 'v4' ? { type: 'data', data: bytes } : bytes)],
          },
        ],
      ])
    },
  )

  test('a download ends with the call', async () => {
    const controller = new AbortController()
    const { model } = mockModel('v4', [{}])
    const client = aiSdk(model, { download: () => new Promise(() => {}) })

    const waiting = client.getResponse(link, { signal: controller.signal })
    controller.abort(new Error('enough'))

    await expect(waiting).rejects.toThrow('enough')
  })

  function file(data: unknown): object {
    return { type: 'file', mediaType: 'application/pdf', data }
  }
})

test('a data URL and the id of a file are what they stand for', async () => {
  const { model, calls } = mockModel('v4', [{}])

  await aiSdk(model).getResponse([
    { type: 'uri', uri: 'data:text/plain,a%20b' },
    { type: 'uri', uri: 'file-abc', mediaType: 'application/pdf' },
  ])

  expect(calls[0]?.['prompt']).toMatchObject([
    {
      content: [
        { mediaType: 'text/plain', data: { type: 'data', data: new TextEncoder().encode('a b') } },
        { data: { type: 'reference', reference: { mock: 'file-abc' } } },
      ],
    },
  ])
})

test('what is no model is refused', () => {
  const { model } = mockModel('v4', [{}])

  expect(() => aiSdk('openai/gpt-5' as never)).toThrow(/model object.*"openai\/gpt-5"/)
  expect(() => aiSdk({} as never)).toThrow(/language model/)
  expect(() =>
    aiSdk({ ...mockModel('v2', []).model, specificationVersion: 'v9' as never }),
  ).toThrow(/v9/)
  expect(() => aiSdk(model, { dowload: 1 } as never)).toThrow(/`dowload`.*`download`/)
})

interface Sent {
  readonly content: readonly { readonly output?: unknown }[]
}

function promptOf(call: Readonly<Record<string, unknown>> | undefined): readonly Sent[] {
  return (call?.['prompt'] ?? []) as readonly Sent[]
}
