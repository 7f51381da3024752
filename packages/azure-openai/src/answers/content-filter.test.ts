import { Agent, foldUpdates } from '@lamella/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  promptChunk,
  response,
  safe,
  safePrompt,
  sse,
  usage,
} from '../../fixtures/azure-recordings.ts'
import { clientRequest, collect, failureOf } from '@lamella/testing'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { azureContentFilter } from './azure-content-filter.ts'
import type { AzureOpenAIApi } from '../connection/azure-openai-client-options.ts'
import { AzureOpenAIChatClient } from '../azure-openai-chat-client.ts'

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

function client(api: AzureOpenAIApi = 'chat'): AzureOpenAIChatClient {
  return new AzureOpenAIChatClient({ api, endpoint: server.url, apiKey: 'k', deployment: 'd' })
}

const said = { role: 'assistant', content: 'Hi there.' }
const violent = { ...safe, violence: { filtered: true, severity: 'medium' } }

describe('verdicts of Chat Completions', () => {
  test('a completion has those of the prompt and of the answer', async () => {
    server.handler = answer(completion({ message: said, content_filter_results: safe }))

    const answered = await client().respond(clientRequest())

    expect(answered.metadata['contentFilter']).toEqual({
      filtered: false,
      prompt: safePrompt,
      completion: safe,
    })
    expect(azureContentFilter(answered)?.prompt?.jailbreak?.detected).toBe(false)
    expect(answered.messages[0]?.origin?.provider).toBe('azure-openai')
  })

  test('every category of Azure is kept, known or new', async () => {
    const all = {
      ...safe,
      profanity: { filtered: false, detected: true },
      indirect_attack: { filtered: true, detected: true },
      protected_material_text: { filtered: false, detected: false },
      protected_material_code: {
        filtered: false,
        detected: true,
        citation: { URL: 'https://example.com/repo', license: 'MIT' },
      },
      custom_blocklists: { filtered: false, details: [{ filtered: false, id: 'brands' }] },
      newest_of_all: { filtered: false, detected: true },
    }
    server.handler = answer(completion({ message: said, content_filter_results: all }))

    const { metadata } = await client().respond(clientRequest())

    expect(metadata['contentFilter']).toMatchObject({ filtered: true, completion: all })
  })

  test('older shapes are brought to the present one', async () => {
    const old = {
      'self-harm': { filtered: true, severity: 'high' },
      protected_material_code: { filtered: false, detected: true, URL: 'https://example.com' },
      custom_blocklists: [{ filtered: true, id: 'brands' }],
    }
    server.handler = answer(completion({ message: said, content_filter_results: old }))

    const { metadata } = await client().respond(clientRequest())

    expect(metadata['contentFilter']).toMatchObject({
      completion: {
        self_harm: { filtered: true, severity: 'high' },
        protected_material_code: { detected: true, citation: { URL: 'https://example.com' } },
        custom_blocklists: { filtered: true, details: [{ filtered: true, id: 'brands' }] },
      },
    })
  })

  test('of several prompts, the worst verdict holds', async () => {
    const results = [
      {
        hate: { filtered: false, severity: 'medium' },
        profanity: { filtered: false, detected: false },
      },
      {
        hate: { filtered: false, severity: 'safe' },
        profanity: { filtered: false, detected: true },
      },
    ].map((content_filter_results, prompt_index) => ({ prompt_index, content_filter_results }))
    server.handler = answer(completion({ message: said }, { prompt_filter_results: results }))

    const { metadata } = await client().respond(clientRequest())

    expect(metadata['contentFilter']).toEqual({
      filtered: false,
      prompt: {
        hate: { filtered: false, severity: 'medium' },
        profanity: { filtered: false, detected: true },
      },
    })
  })

  test('a filter that failed is told as such, not as a pass', async () => {
    const error = { code: 'content_filter_error', message: 'The contents are not filtered' }
    const broken = { message: said, content_filter_results: { error } }
    server.handler = answer(completion(broken))

    const { metadata } = await client().respond(clientRequest())

    expect(metadata['contentFilter']).toMatchObject({ filtered: false, completion: { error } })
  })

  test('an answer that was cut has a reason and what was said', async () => {
    const cut = { message: said, finish_reason: 'content_filter', content_filter_results: violent }
    server.handler = answer(completion(cut))

    const answered = await client().respond(clientRequest())

    expect(answered).toMatchObject({
      text: 'Hi there.',
      finishReason: 'content-filter',
      metadata: { contentFilter: { filtered: true, completion: violent } },
    })
  })

  test('a choice without a message is an answer without a text', async () => {
    server.handler = answer(
      completion({ finish_reason: 'content_filter', content_filter_results: violent }),
    )

    const answered = await client().respond(clientRequest())

    expect(answered).toMatchObject({ text: '', finishReason: 'content-filter' })
    expect(azureContentFilter(answered)?.filtered).toBe(true)
    expect(answered.usage.inputTokens).toBe(20)
  })

  test('an agent’s response has them, plain and streamed', async () => {
    const whole = completion({ message: said, content_filter_results: safe })
    const end = { finish_reason: 'stop', content_filter_results: safe }
    const events = sse([promptChunk(), chunk(said), chunk({}, end)])
    server.handler = (reply, request) =>
      answer(request.body.stream ? events : whole)(reply, request)
    const agent = new Agent({ client: client() })

    const verdicts = [
      azureContentFilter(await agent.run('Hi')),
      azureContentFilter(await agent.run('Hi', { stream: true }).finalResponse()),
    ]

    for (const verdict of verdicts) {
      expect(verdict).toEqual({ filtered: false, prompt: safePrompt, completion: safe })
    }
  })

  test('of several choices, the first is looked at', async () => {
    const second = { index: 1, message: said, content_filter_results: violent }
    const { choices } = completion({ message: said, content_filter_results: safe }) as {
      choices: readonly object[]
    }
    server.handler = answer(completion({}, { choices: [second, ...choices] }))

    expect(azureContentFilter(await client().respond(clientRequest()))?.filtered).toBe(false)
  })

  test('without verdicts there is none', async () => {
    server.handler = answer(
      completion({ message: said, content_filter_results: {} }, { prompt_filter_results: [] }),
    )

    const answered = await client().respond(clientRequest())

    expect(answered.metadata).not.toHaveProperty('contentFilter')
    expect(azureContentFilter(answered)).toBeUndefined()
  })
})

describe('verdicts of a stream', () => {
  const worse = { ...safe, violence: { filtered: false, severity: 'low' } }
  const chunks = [
    promptChunk(),
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Hi ' }, { content_filter_results: worse }),
    chunk({ content: 'there.' }, { content_filter_results: safe }),
    chunk({}, { finish_reason: 'stop' }),
    { ...chunk({}), choices: [], usage },
  ]

  test('are gathered, told when they are new, and the worst holds', async () => {
    server.handler = answer(sse(chunks))

    const updates = await collect(client().stream(clientRequest()))
    const told = updates.filter(({ metadata }) => metadata?.['contentFilter'])

    expect(told.length).toBe(2)
    expect(foldUpdates(updates)).toMatchObject({
      text: 'Hi there.',
      finishReason: 'stop',
      metadata: { contentFilter: { filtered: false, prompt: safePrompt, completion: worse } },
      usage: { inputTokens: 20 },
    })
  })

  test('cut at every byte, they are the same, and the same as of a whole answer', async () => {
    server.handler = answer(sse(chunks))
    const streamed = foldUpdates(await collect(client().stream(clientRequest())))
    server.handler = answer(sse(chunks), { size: 1 })
    const split = foldUpdates(await collect(client().stream(clientRequest())))
    server.handler = answer(completion({ message: said, content_filter_results: worse }))
    const { raw: _, ...whole } = await client().respond(clientRequest())

    expect(split).toEqual(streamed)
    expect(streamed).toEqual(whole)
  })

  test('of two streams at once, each has its own', async () => {
    const shared = client()
    server.handler = (reply, request) =>
      answer(
        sse(
          request.body.messages[0].content === 'bad'
            ? [promptChunk({ hate: { filtered: false, severity: 'low' } }), ...chunks.slice(1)]
            : chunks,
        ),
      )(reply, request)

    const [bad, good] = await Promise.all(
      ['bad', 'good'].map(async (prompt) =>
        foldUpdates(await collect(shared.stream(clientRequest(prompt)))),
      ),
    )

    expect(azureContentFilter(bad)?.prompt).toEqual({ hate: { filtered: false, severity: 'low' } })
    expect(azureContentFilter(good)?.prompt).toEqual(safePrompt)
  })

  test('a filter that works behind the text ends what it blocks', async () => {
    const offsets = { check_offset: 44, start_offset: 44, end_offset: 198 }
    server.handler = answer(
      sse([
        promptChunk(),
        chunk({ role: 'assistant', content: 'Hi there.' }),
        {
          ...chunk({}),
          choices: [
            {
              index: 0,
              finish_reason: null,
              content_filter_results: safe,
              content_filter_offsets: offsets,
            },
          ],
        },
        {
          ...chunk({}),
          choices: [
            {
              index: 0,
              finish_reason: 'content_filter',
              content_filter_results: violent,
              content_filter_offsets: offsets,
            },
          ],
        },
      ]),
    )

    const answered = foldUpdates(await collect(client().stream(clientRequest())))

    expect(answered).toMatchObject({
      text: 'Hi there.',
      finishReason: 'content-filter',
      metadata: { contentFilter: { filtered: true, completion: violent } },
    })
  })

  test('a stream that breaks off leaves them with what had arrived', async () => {
    server.handler = answer(sse(chunks.slice(0, 3)).replace('data: [DONE]\n\n', ''))

    const failure = await failureOf(client().stream(clientRequest()))

    expect(failure).toMatchObject({ kind: 'truncated_stream', partial: { text: 'Hi ' } })
    expect(azureContentFilter((failure as { partial: unknown }).partial)?.prompt).toEqual(
      safePrompt,
    )
  })
})

describe('verdicts of the Responses API', () => {
  const filters = [
    { blocked: false, source_type: 'prompt', content_filter_results: safePrompt },
    { blocked: true, source_type: 'completion', content_filter_results: safe },
  ]
  const verdict = { filtered: true, prompt: safePrompt, completion: safe }

  test('are those of `content_filters`, whole and streamed', async () => {
    const incomplete = {
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
      content_filters: filters,
    }
    const recording = response('I cannot', incomplete)
    server.handler = (reply, request) =>
      answer(request.body.stream ? recording.sse : recording.whole)(reply, request)

    const whole = await client('responses').respond(clientRequest())
    const streamed = foldUpdates(await collect(client('responses').stream(clientRequest())))

    for (const answered of [whole, streamed]) {
      expect(answered).toMatchObject({ text: 'I cannot', finishReason: 'content-filter' })
      expect(answered.metadata['contentFilter']).toEqual(verdict)
    }
  })

  test('a response that failed for them has them', async () => {
    const { sse: events } = response('', {
      status: 'failed',
      error: { code: 'content_filter', message: 'Blocked.' },
      content_filters: filters,
    })
    server.handler = answer(events)

    const failure = await failureOf(client('responses').stream(clientRequest()))

    expect(failure).toMatchObject({ kind: 'content_filter' })
    expect(azureContentFilter(failure)).toEqual(verdict)
  })
})

describe('a prompt that is refused', () => {
  const blocked = { ...safePrompt, hate: { filtered: true, severity: 'medium' } }
  const message = 'The response was filtered.'
  const report = { code: 'content_filter', message, type: null, param: 'prompt', status: 400 }
  const innererror = { code: 'ResponsibleAIPolicyViolation' }
  const bodies: readonly [string, object][] = [
    [
      'an inner error',
      { error: { ...report, innererror: { ...innererror, content_filter_result: blocked } } },
    ],
    [
      'an inner error in the plural',
      { error: { ...report, innererror: { ...innererror, content_filter_results: blocked } } },
    ],
    ['results beside the code', { error: { ...report, content_filter_result: blocked } }],
    [
      'a list of filters',
      {
        error: {
          ...report,
          content_filters: [
            { blocked: true, source_type: 'prompt', content_filter_results: blocked },
          ],
        },
      },
    ],
    [
      'only an inner code',
      { error: { message, innererror: { ...innererror, content_filter_result: blocked } } },
    ],
  ]

  for (const status of [400, 200]) {
    test.for(bodies)(`is an error with the verdict, from %s (${status})`, async ([, body]) => {
      server.handler = answer(body, { status, headers: { 'apim-request-id': 'req-7' } })

      for (const work of [client().respond(clientRequest()), client().stream(clientRequest())]) {
        const failure = await failureOf(work)

        expect(failure).toMatchObject({
          kind: 'content_filter',
          provider: 'azure-openai',
          retry: { retryable: false },
          ...(status === 400 && { status, requestId: 'req-7' }),
        })
        expect(azureContentFilter(failure)).toEqual({ filtered: true, prompt: blocked })
      }
    })
  }

  test('without any verdict, it is still told that it was blocked', async () => {
    server.handler = answer({ error: report }, { status: 400 })

    const failure = await failureOf(client('responses').respond(clientRequest()))

    expect(azureContentFilter(failure)).toEqual({ filtered: true })
    expect(failure).toMatchObject({ details: { code: 'content_filter', param: 'prompt' } })
  })

  test('inside a stream, it has what was known of the prompt before', async () => {
    server.handler = answer(
      sse([promptChunk(), chunk({ role: 'assistant', content: 'Hi' }), { error: report }]),
    )

    const failure = await failureOf(client().stream(clientRequest()))

    expect(failure).toMatchObject({ kind: 'content_filter', partial: { text: 'Hi' } })
    expect(azureContentFilter(failure)).toEqual({ filtered: true, prompt: safePrompt })
  })
})
