import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { ChatRequest, ChatResponse } from '@lamella/core'
import { foldUpdates, isProviderError, message } from '@lamella/core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { RawServer } from '../fixtures/raw-server.ts'
import { AnthropicChatClient } from './anthropic-chat-client.ts'

// Recorded traffic that is kept beside the repository and never in it.
const folder = new URL('../../../../shared/cassettes/', import.meta.url)

interface Expected {
  readonly text?: string
  readonly reasoningText?: string
  readonly toolCalls?: readonly {
    readonly id: string | null
    readonly name: string
    readonly argumentsRaw: string
    readonly arguments?: unknown
  }[]
  readonly serverToolCalls?: readonly { type: string; id?: string }[]
  readonly reasoningSignatures?: readonly { length: number }[]
  readonly reasoningRedacted?: readonly { length: number }[]
  readonly finishReason?: string | null
  readonly finishDetail?: string | null
  readonly usage?: Readonly<Record<string, number | null>> | null
  readonly model?: string
  readonly responseId?: string
  readonly refusal?: string | null
  readonly annotations?: readonly { type: string; url: string | null }[]
  readonly error?: { status: number | null; type: string | null; requestId: string | null }
  readonly partial?: { text: string; reasoningText: string }
}

interface Truth {
  readonly outcome: string
  readonly category?: string
  readonly retryable?: boolean | null
  readonly retryAfterMs?: number | null
  readonly resetHintMs?: number
  readonly partialText?: string
  readonly partialToolArguments?: string
  readonly text?: string
  readonly toolCalls?: readonly { name: string; arguments: unknown }[]
  readonly rawArguments?: string
  readonly toolName?: string
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

    expectRecorded(await run(cassette, { baseURL: server.url }), cassette)
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

    expectRecorded(await run(cassette, { baseURL: 'http://split.invalid', fetch }), cassette)
  })
})

type Result = { readonly response: ChatResponse } | { readonly error: unknown }

async function run(
  { stream, clock }: Cassette,
  options: { baseURL: string; fetch?: typeof fetch },
): Promise<Result> {
  if (clock !== undefined) vi.useFakeTimers({ toFake: ['Date'], now: new Date(clock) })
  const client = new AnthropicChatClient({ ...options, apiKey: 'test-key', model: 'test-model' })
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
  const { truth, wire, expected } = cassette
  if (cassette.synthetic) expectTruth(result, truth!)
  else if (wire) expectAnswer(result, wire, cassette)
  else if (expected?.error) expectFailure(result, expected)
  else expectAnswer(result, expected!, cassette)
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
  if (truth.partialText !== undefined) expect(error.partial?.text ?? '').toBe(truth.partialText)
  if (typeof truth.partialToolArguments === 'string') {
    const partial = error.partial?.functionCalls.map((call) => call.arguments).join('') ?? ''
    expect(partial).toBe(truth.partialToolArguments)
  }
}

function expectFailure(result: Result, { error: expected, partial }: Expected): void {
  const error = 'error' in result ? result.error : undefined
  if (!isProviderError(error)) throw error ?? new Error('no error')
  expect(error.status ?? null).toBe(expected!.status)
  expect(error.details?.['type'] ?? null).toBe(expected!.type)
  if (expected!.requestId) expect(error.requestId).toBe(expected!.requestId)
  expect(error.partial?.text ?? '').toBe(partial?.text ?? '')
}

function expectAnswer(result: Result, expected: Expected, { stream }: Cassette): void {
  if (!('response' in result)) throw result.error
  const { response } = result
  const contents = response.messages.flatMap((each) => each.contents)

  expect(response.text).toBe(expected.text ?? '')
  expect(response.functionCalls.map(({ name }) => name)).toEqual(
    (expected.toolCalls ?? []).map(({ name }) => name),
  )
  for (const [at, call] of (expected.toolCalls ?? []).entries()) {
    const { callId, arguments: raw } = response.functionCalls[at]!
    // Whole answers hold the input as JSON, whose white space is not the model's.
    if (stream && call.argumentsRaw !== '') expect(raw).toBe(call.argumentsRaw)
    if (call.arguments !== undefined) expect(JSON.parse(raw)).toEqual(call.arguments)
    if (call.id) expect(callId).toBe(call.id)
  }
  const reasons: Readonly<Record<string, string>> = {
    end_turn: 'stop',
    stop_sequence: 'stop',
    max_tokens: 'length',
    tool_use: 'tool-calls',
    refusal: 'refusal',
  }
  expect(response.finishReason).toBe(reasons[expected.finishReason!])
  if (expected.finishDetail) {
    expect(response.metadata['stopSequence']).toBe(expected.finishDetail)
  }
  if (expected.responseId) expect(response.id).toBe(expected.responseId)
  if (expected.model) expect(response.model).toBe(expected.model)
  expectUsage(response, expected)
  if (expected.reasoningText !== undefined) {
    const thought = contents.map((each) => (each.type === 'reasoning' ? each.text : '')).join('')
    expect(thought).toBe(expected.reasoningText)
    const sealed = contents.flatMap((each) =>
      each.type === 'reasoning' && each.protected ? [each.protected.length] : [],
    )
    const opaque = [...expected.reasoningSignatures!, ...expected.reasoningRedacted!]
    expect(new Set(sealed)).toEqual(new Set(opaque.map(({ length }) => length)))
    expect(sealed).toHaveLength(opaque.length)
  }
  const refusal = contents.map((each) => (each.type === 'refusal' ? each.text : '')).join('')
  expect(refusal).toBe(expected.refusal ?? '')
  const annotations = contents.flatMap((each) => each.annotations ?? [])
  expect(annotations).toHaveLength(expected.annotations?.length ?? 0)
  for (const [at, { type, url }] of (expected.annotations ?? []).entries()) {
    expect(annotations[at]).toMatchObject(url === null ? { type } : { type, uri: url })
  }
  const shown = contents.flatMap((each) => {
    if (each.type !== 'hosted') return []
    const { type, id, tool_use_id: of } = each.data as Readonly<Record<string, unknown>>
    return { type, id: id ?? of ?? null }
  })
  expect(shown).toEqual((expected.serverToolCalls ?? []).map(({ type, id }) => ({ type, id })))
}

/** The recordings keep Anthropic's own counting, where what is cached is beside the input. */
function expectUsage({ usage }: ChatResponse, { usage: expected }: Expected): void {
  if (!expected) return
  const { inputTokens: uncached, ...others } = expected
  const { cachedInputTokens: cached, cacheWriteTokens: written } = expected
  expect(usage.inputTokens).toBe(uncached! + (cached ?? 0) + (written ?? 0))
  for (const [counter, count] of Object.entries(others)) {
    expect([counter, usage[counter] ?? null]).toEqual([counter, count])
  }
}

function readCassettes(): Cassette[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json') && file !== 'index.json')
    .map((file): Cassette => JSON.parse(readFileSync(new URL(file, folder), 'utf8')))
    .filter(({ api }) => api === 'anthropic-messages')
}
