// Recorded traffic that is kept beside the repository and never in it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ChatClient, ChatResponse, ProviderError } from '../../packages/core/src/index.ts'
import { foldUpdates, isProviderError } from '../../packages/core/src/index.ts'
import { clientRequest } from '../../packages/testing/src/index.ts'
import { RawServer } from '../../packages/testing/src/raw-server.ts'

const folder = new URL('../../../shared/cassettes/', import.meta.url)

/** Expected outcome of a recording that somebody made up. */
export interface Truth {
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
  readonly filtered?: readonly string[]
}

/** A recorded answer, with what the provider's own SDK read in it. */
export interface Cassette<Expected> {
  readonly id: string
  readonly api: string
  readonly provider: string
  readonly stream: boolean
  readonly synthetic: boolean
  readonly clock?: string
  readonly response: { status: number; headers: Record<string, string>; body: string }
  readonly expected: Expected | null
  readonly wire?: Expected
  readonly truth?: Truth
}

/** Outcome of a recording. */
export type Result = { readonly response: ChatResponse } | { readonly error: unknown }

/** Place of a recording: at an address, or with a `fetch` that needs none. */
export interface Place {
  readonly url: string
  readonly fetch?: typeof fetch
}

/** Plays all recordings of some APIs, over a socket and byte by byte. */
export function describeCassettes<Expected>({
  isOurs,
  open,
  expectRecorded,
}: {
  readonly isOurs: (api: string) => boolean
  readonly open: (cassette: Cassette<Expected>, place: Place) => ChatClient
  readonly expectRecorded: (result: Result, cassette: Cassette<Expected>) => void
}): void {
  const cassettes = readCassettes<Expected>().filter(({ api }) => isOurs(api))
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

      const result = await play(cassette, () => open(cassette, { url: server.url }))

      expectRecorded(result, cassette)
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

      const place = { url: 'http://split.invalid', fetch }
      const result = await play(cassette, () => open(cassette, place))

      expectRecorded(result, cassette)
    })
  })
}

async function play({ stream, clock }: Cassette<unknown>, open: () => ChatClient): Promise<Result> {
  if (clock !== undefined) vi.useFakeTimers({ toFake: ['Date'], now: new Date(clock) })
  const client = open()
  const request = clientRequest('What the recording was asked.')
  try {
    if (!stream) return { response: await client.respond(request) }
    const updates = []
    for await (const update of client.stream(request)) updates.push(update)
    return { response: foldUpdates(updates) }
  } catch (error) {
    return { error }
  }
}

const kinds: Readonly<Record<string, string>> = {
  incomplete_stream: 'truncated_stream',
  unexpected_content_type: 'server',
}

/** A made-up recording came to what it was made for. */
export function expectTruth(result: Result, truth: Truth): void {
  if (truth.outcome.startsWith('ok')) {
    const { text, functionCalls } = responseOf(result)
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
  const error = failureIn(result)
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

/** The answer of a result. Throws what it failed with. */
export function responseOf(result: Result): ChatResponse {
  if (!('response' in result)) throw result.error
  return result.response
}

/** The failure of a result. Throws if it is none of a provider's. */
export function failureIn(result: Result): ProviderError {
  const error = 'error' in result ? result.error : undefined
  if (!isProviderError(error)) throw error ?? new Error('no error')
  return error
}

/** All reasoning of an answer. */
export function thoughtOf(response: ChatResponse): string {
  return response.messages
    .flatMap((each) => each.contents)
    .map((each) => (each.type === 'reasoning' ? each.text : ''))
    .join('')
}

/** The recordings that are kept beside this checkout, if they are. */
export function readCassettes<Expected>(): Cassette<Expected>[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json') && file !== 'index.json')
    .map((file): Cassette<Expected> => JSON.parse(readFileSync(new URL(file, folder), 'utf8')))
}
