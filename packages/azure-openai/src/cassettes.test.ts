import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { ChatRequest, ChatResponse, FinishReason } from '@lamella/core'
import { foldUpdates, isProviderError, message } from '@lamella/core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { RawServer } from '../fixtures/raw-server.ts'
import { azureContentFilter } from './azure-content-filter.ts'
import { AzureOpenAIChatClient } from './azure-openai-chat-client.ts'

// Recorded traffic that is kept beside the repository and never in it.
const folder = new URL('../../../../shared/cassettes/', import.meta.url)

interface Expected {
  readonly text?: string
  readonly reasoningText?: string
  readonly toolCalls?: readonly { id: string | null; name: string; argumentsRaw: string }[]
  readonly serverToolCalls?: readonly { type: string; id?: string }[]
  readonly reasoningEncrypted?: readonly { length: number }[]
  readonly finishReason?: string | null
  readonly finishDetail?: string | null
  readonly usage?: Readonly<Record<string, number | null>> | null
  readonly model?: string
  readonly responseId?: string
  readonly refusal?: string | null
  readonly annotations?: readonly { type: string; url: string | null }[]
  readonly choices?: readonly { text: string; finishReason: string }[]
  readonly error?: {
    kind: string
    status: number | null
    code: string | null
    requestId: string | null
  }
  readonly partial?: { text: string; reasoningText: string }
}

interface Truth {
  readonly outcome: string
  readonly category?: string
  readonly retryable?: boolean | null
  readonly retryAfterMs?: number | null
  readonly resetHintMs?: number
  readonly partialText?: string
  readonly text?: string
  readonly toolCalls?: readonly { name: string; arguments: unknown }[]
  readonly rawArguments?: string
  readonly toolName?: string
  readonly filtered?: readonly string[]
}

interface Cassette {
  readonly id: string
  readonly api: string
  readonly stream: boolean
  readonly synthetic: boolean
  readonly clock?: string
  readonly response: { status: number; headers: Record<string, string>; body: string }
  readonly expected: Expected | null
  readonly wire?: Expected
  readonly truth?: Truth
}

const cassettes = existsSync(folder) ? readCassettes() : []
if (cassettes.length === 0) {
  console.warn('SKIPPED: the cassettes are not beside this checkout, nothing is replayed')
}

describe.skipIf(cassettes.length === 0)('recorded answers', () => {
  let server: RawServer
  beforeAll(async () => {
    server = await RawServer.start()
  })
  afterAll(() => server.stop())
  afterEach(() => {
    vi.useRealTimers()
  })

  test.for(cassettes)('$id', async (cassette) => {
    const { status, headers, body } = cassette.response
    server.handler = (response) => {
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
      response.end(body)
    }

    expectRecorded(await run(cassette, { endpoint: server.url }), cassette)
  })

  test.for(cassettes)('$id, byte by byte', async (cassette) => {
    const { status, headers, body } = cassette.response
    const bytes = new TextEncoder().encode(body)
    const fetch = async (): Promise<Response> => {
      let at = 0
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (at === bytes.length) controller.close()
          else controller.enqueue(bytes.subarray(at, ++at))
        },
      })
      return new Response(stream, { status, headers })
    }

    expectRecorded(await run(cassette, { endpoint: 'http://split.invalid', fetch }), cassette)
  })
})

type Result = { readonly response: ChatResponse } | { readonly error: unknown }

async function run(
  { api, stream, clock }: Cassette,
  options: { endpoint: string; fetch?: typeof fetch },
): Promise<Result> {
  if (clock !== undefined) vi.useFakeTimers({ toFake: ['Date'], now: new Date(clock) })
  const client = new AzureOpenAIChatClient({
    ...options,
    api: api === 'azure-chat' ? 'chat' : 'responses',
    apiKey: 'test-key',
    deployment: 'test-deployment',
  })
  const request: ChatRequest = {
    messages: [message('user', 'What the recording was asked.')],
    instructions: undefined,
    options: { transportRetries: 0 },
    signal: new AbortController().signal,
  }
  try {
    if (!stream) return { response: await client.respond(request) }
    const updates = []
    for await (const update of client.stream(request)) updates.push(update)
    return { response: foldUpdates(updates) }
  } catch (error) {
    return { error }
  }
}

function expectRecorded(result: Result, cassette: Cassette): void {
  const { truth, wire, expected, response } = cassette
  const body = /^\s*\{/.test(response.body) ? JSON.parse(response.body) : {}
  if (response.status === 200 && body.error) expectRefusalInside200(result)
  else if (cassette.synthetic) expectTruth(result, truth!)
  else if (wire) expectAnswer(result, wire)
  else if (expected?.error) expectFailure(result, expected, response.headers)
  else expectAnswer(result, expected!)
  if (body.choices) expectVerdict(result, body)
}

/** The SDK takes such a body for an answer without choices; what it reports is a refusal. */
function expectRefusalInside200(result: Result): void {
  const error = 'error' in result ? result.error : undefined
  expect(error).toMatchObject({ kind: 'content_filter', retry: { retryable: false } })
  expect(azureContentFilter(error)).toMatchObject({
    filtered: true,
    prompt: { hate: { filtered: true, severity: 'high' } },
  })
}

interface Verdicts {
  readonly prompt_filter_results?: readonly { content_filter_results: object }[]
  readonly choices: readonly { content_filter_results?: object }[]
}

function expectVerdict(result: Result, { prompt_filter_results, choices }: Verdicts): void {
  if (!('response' in result)) return
  const { prompt, completion } = azureContentFilter(result.response) ?? {}
  expect(prompt).toEqual(prompt_filter_results?.[0]?.content_filter_results)
  expect(completion ?? {}).toEqual(choices[0]?.content_filter_results ?? {})
}

const kinds: Readonly<Record<string, string>> = {
  incomplete_stream: 'truncated_stream',
  unexpected_content_type: 'server',
}

function expectTruth(result: Result, truth: Truth): void {
  if (truth.outcome.startsWith('ok')) {
    if (!('response' in result)) throw result.error
    const { text, functionCalls } = result.response
    if (truth.text !== undefined) expect(text).toBe(truth.text)
    if (truth.toolCalls !== undefined) {
      const calls = functionCalls.map((call) => ({
        name: call.name,
        arguments: JSON.parse(call.arguments),
      }))
      expect(calls).toEqual(truth.toolCalls)
    }
    if (truth.rawArguments !== undefined) {
      expect(functionCalls).toMatchObject([{ name: truth.toolName, arguments: truth.rawArguments }])
    }
    return
  }
  const error = 'error' in result ? result.error : undefined
  if (!isProviderError(error)) throw error ?? new Error('no error')
  const { category = '' } = truth
  if (category === 'empty_body') expect(['server', 'truncated_stream']).toContain(error.kind)
  else expect(error.kind).toBe(kinds[category] ?? category)
  if (typeof truth.retryable === 'boolean') expect(error.retry.retryable).toBe(truth.retryable)
  const afterMs = truth.retryAfterMs ?? truth.resetHintMs
  if (truth.outcome === 'http-error') expect(error.retry.afterMs).toBe(afterMs ?? undefined)
  const verdict = azureContentFilter(error)
  for (const name of truth.filtered ?? []) {
    expect(verdict?.prompt).toMatchObject({ [name]: { filtered: true } })
  }
  if (truth.partialText !== undefined) expect(error.partial?.text ?? '').toBe(truth.partialText)
}

function expectFailure(
  result: Result,
  { error: expected, partial }: Expected,
  headers: Readonly<Record<string, string>>,
): void {
  const error = 'error' in result ? result.error : undefined
  if (!isProviderError(error)) throw error ?? new Error('no error')
  expect(error.status ?? null).toBe(expected!.status)
  expect(error.details?.['code'] ?? null).toBe(expected!.code)
  // The SDK does not know the name that Azure's gateway gives it.
  const requestId = expected!.requestId ?? headers['apim-request-id'] ?? null
  expect(error.requestId ?? null).toBe(requestId)
  if (error.kind === 'content_filter') expect(azureContentFilter(error)?.filtered).toBe(true)
  expect(error.partial?.text ?? '').toBe(partial?.text ?? '')
  if (partial !== undefined) expect(thoughtOf(error.partial!)).toBe(partial.reasoningText)
}

function expectAnswer(result: Result, expected: Expected): void {
  if (!('response' in result)) throw result.error
  const { response } = result
  const [first] = expected.choices ?? []
  const contents = response.messages.flatMap((each) => each.contents)

  expect(response.text).toBe(expected.text ?? first?.text ?? '')
  expect(response.functionCalls.map((call) => [call.name, call.arguments])).toEqual(
    (expected.toolCalls ?? []).map((call) => [call.name, call.argumentsRaw]),
  )
  for (const [at, { id }] of (expected.toolCalls ?? []).entries()) {
    if (id) expect(response.functionCalls[at]!.callId).toBe(id)
  }
  expect(response.finishReason).toBe(finishOf(expected, response))
  if (expected.responseId) expect(response.id).toBe(expected.responseId)
  if (expected.model) expect(response.model).toBe(expected.model)
  for (const [counter, count] of Object.entries(expected.usage ?? {})) {
    expect([counter, response.usage[counter] ?? null]).toEqual([counter, count])
  }
  if (expected.usage === null) expect(response.usage).toEqual({})
  if (expected.reasoningText !== undefined) expect(thoughtOf(response)).toBe(expected.reasoningText)
  if (expected.reasoningEncrypted !== undefined) {
    const sealed = contents.flatMap((each) =>
      each.type === 'reasoning' && each.protected ? [each.protected] : [],
    )
    expect(sealed.map(({ length }) => length)).toEqual(
      expected.reasoningEncrypted.map(({ length }) => length),
    )
  }
  const refusal = contents.map((each) => (each.type === 'refusal' ? each.text : '')).join('')
  expect(refusal).toBe(expected.refusal ?? '')
  const annotations = contents.flatMap((each) => each.annotations ?? [])
  for (const [at, { type, url }] of (expected.annotations ?? []).entries()) {
    expect(annotations[at]).toMatchObject(url === null ? { type } : { type, uri: url })
  }
  const shown = contents.flatMap((each) =>
    each.type === 'hosted' || each.type === 'approval-request'
      ? [each.id]
      : each.type === 'data'
        ? [(each.providerData as { itemId?: string }).itemId]
        : [],
  )
  for (const { id } of expected.serverToolCalls ?? []) expect(shown).toContain(id)
}

function thoughtOf(response: ChatResponse): string {
  return response.messages
    .flatMap((each) => each.contents)
    .map((each) => (each.type === 'reasoning' ? each.text : ''))
    .join('')
}

function finishOf(
  { finishReason, finishDetail, choices }: Expected,
  response: ChatResponse,
): FinishReason | undefined {
  const raw = finishReason ?? choices?.[0]?.finishReason
  switch (raw) {
    case 'completed':
    case 'stop':
      if (response.functionCalls.length > 0) return 'tool-calls'
      return response.messages.some((each) => each.contents.some(({ type }) => type === 'refusal'))
        ? 'refusal'
        : 'stop'
    case 'incomplete':
      return finishDetail === 'content_filter' ? 'content-filter' : 'length'
    case 'tool_calls':
    case 'function_call':
      return 'tool-calls'
    case 'content_filter':
      return 'content-filter'
    case 'in_progress':
    case 'queued':
    case '':
      return undefined
    default:
      return raw ?? undefined
  }
}

function readCassettes(): Cassette[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json') && file !== 'index.json')
    .map((file): Cassette => JSON.parse(readFileSync(new URL(file, folder), 'utf8')))
    .filter(({ api }) => api.startsWith('azure-'))
}
