import { inspect } from 'node:util'
import { foldUpdates } from '@lamella/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chunk, completion, promptChunk, sse } from '../../fixtures/azure-recordings.ts'
import { clientRequest, collect, failureOf } from '@lamella/testing'
import { answer, RawServer } from '@lamella/testing/raw-server'
import type { AzureDataSource } from './azure-data-source.ts'
import { AzureOpenAIChatClient } from '../azure-openai-chat-client.ts'
import type { AzureOpenAIClientOptions } from '../sdk-sender.ts'
import type { AzureOpenAIProviderOptions } from './azure-openai-provider-options.ts'

const secret = 'search-key-0123456789'
const search: AzureDataSource = {
  type: 'azure_search',
  parameters: {
    endpoint: 'https://name.search.windows.net',
    index_name: 'handbook',
    authentication: { type: 'api_key', key: secret },
    top_n_documents: 3,
  },
}
const cosmos: AzureDataSource = {
  type: 'azure_cosmos_db',
  parameters: {
    database_name: 'db',
    container_name: 'c',
    index_name: 'i',
    authentication: { type: 'connection_string', connection_string: 'mongodb://me:pass@host' },
    fields_mapping: { content_fields: ['text'], vector_fields: ['vector'] },
    embedding_dependency: { type: 'deployment_name', deployment_name: 'embeddings' },
  },
}

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

function client(options: AzureOpenAIClientOptions = {}): AzureOpenAIChatClient {
  const own = { endpoint: server.url, apiKey: 'azure-0123456789', deployment: 'd' }
  return new AzureOpenAIChatClient({ ...own, dataSources: [search], ...options })
}

const citations = [
  {
    content: 'Boots are black.',
    title: 'Boots',
    url: 'https://docs/boots',
    filepath: 'boots.md',
    chunk_id: '0',
  },
  { content: 'Hats are red.', title: null, url: null, filepath: 'hats.md', chunk_id: '4' },
]
const context = { citations, intent: '["colour of boots"]' }
const content = 'They are black [doc1].'

const expected = {
  text: content,
  finishReason: 'stop',
  metadata: { dataContext: context },
  messages: [
    {
      contents: [
        {
          type: 'text',
          text: content,
          annotations: [
            {
              type: 'citation',
              uri: 'https://docs/boots',
              title: 'Boots',
              metadata: { reference: '[doc1]', filepath: 'boots.md', chunkId: '0' },
            },
            {
              type: 'citation',
              title: 'hats.md',
              metadata: { reference: '[doc2]', filepath: 'hats.md', chunkId: '4' },
            },
          ],
        },
      ],
    },
  ],
}

describe('what is sent', () => {
  test('the data sources in Azure’s words', async () => {
    server.handler = answer(completion({ message: { role: 'assistant', content } }))

    await client({ dataSources: [search, cosmos] }).respond(
      clientRequest('Hi', { maxOutputTokens: 50 }),
    )

    expect(server.last.body).toEqual({
      stream: false,
      model: 'd',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 50,
      data_sources: [search, cosmos],
    })
  })

  test('no `stream_options`, which Azure refuses beside them, unless it is asked for', async () => {
    server.handler = answer(sse([chunk({ content }), chunk({}, { finish_reason: 'stop' })]))
    const plain = new AzureOpenAIChatClient({
      endpoint: server.url,
      apiKey: 'azure-0123456789',
      deployment: 'd',
    })

    for (const each of [client(), client({ streamUsage: true }), plain]) {
      await collect(each.stream(clientRequest()))
    }

    const sent = server.received.slice(-3).map(({ body }) => body.stream_options)
    const usage = { include_usage: true }
    expect(sent).toEqual([undefined, usage, usage])
  })

  test('a call brings its own, or none', async () => {
    server.handler = answer(completion({ message: { role: 'assistant', content } }))
    const { parameters } = search
    const filtered = { ...search, parameters: { ...parameters, filter: "tenant eq 'a'" } } as const
    const own: AzureOpenAIProviderOptions = { dataSources: [filtered], verbosity: 'low' }

    await client().respond(clientRequest('Hi', { providerOptions: { 'azure-openai': own } }))
    const first = server.last.body
    await client().respond(
      clientRequest('Hi', { providerOptions: { 'azure-openai': { dataSources: [] } } }),
    )

    expect(first).toMatchObject({ data_sources: [filtered], verbosity: 'low' })
    expect(server.last.body).not.toHaveProperty('data_sources')
  })

  test('what cannot be is refused before it is sent', async () => {
    const before = server.received.length
    const call = (dataSources: unknown) =>
      clientRequest('Hi', { providerOptions: { 'azure-openai': { dataSources } } })
    const responses = client({ api: 'responses', dataSources: undefined })

    const failures = [
      await failureOf(client().respond(call('handbook'))),
      await failureOf(responses.respond(call([search]))),
    ]

    expect(failures).toEqual([
      new TypeError(
        'providerOptions.azure-openai: `dataSources` must be a list of objects with `type` and `parameters`',
      ),
      new TypeError("AzureOpenAIChatClient: `dataSources` needs `api: 'chat'`"),
    ])
    expect(server.received.length).toBe(before)
  })
})

describe('what comes back', () => {
  test('citations are annotations, the whole context is metadata', async () => {
    server.handler = answer(completion({ message: { role: 'assistant', content, context } }))

    expect(await client().respond(clientRequest())).toMatchObject(expected)
  })

  test('a stream gives the same, wherever the context stands and however it is cut', async () => {
    const said = ['They are black ', '[doc1].'].map((piece) => chunk({ content: piece }))
    const end = chunk({}, { finish_reason: 'stop' })
    const streams = [
      [promptChunk(), chunk({ role: 'assistant', context }), ...said, end],
      [chunk({ role: 'assistant', content: '' }), ...said, chunk({ context }), end],
      [
        chunk({ role: 'assistant', context: { ...context, citations: citations.slice(0, 1) } }),
        chunk({ context: { citations: citations.slice(1) } }),
        ...said,
        end,
      ],
    ]

    for (const [at, chunks] of streams.entries()) {
      server.handler = answer(sse(chunks), { size: at })

      expect(foldUpdates(await collect(client().stream(clientRequest())))).toMatchObject(expected)
    }
  })

  test('a key of a data source is in no error', async () => {
    const message = `Validation failed: {"key": "${secret}"} at https://name.search.windows.net`
    server.handler = answer({ error: { code: 400, message, requestid: 'r' } }, { status: 400 })

    for (const work of [client().respond(clientRequest()), client().stream(clientRequest())]) {
      const failure = await failureOf(work)

      expect(failure).toMatchObject({ kind: 'invalid_request', status: 400 })
      expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(secret)
      expect((failure as Error).cause).toMatchObject({ message: message.replace(secret, '[key]') })
    }
  })
})
