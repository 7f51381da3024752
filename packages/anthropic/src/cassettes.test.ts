import type { ChatResponse } from '@lamella/core'
import { providerId } from '../../../tests/provider-harness/provider-ids.ts'
import { expect } from 'vitest'
import type { Cassette, Result } from '../../../tests/provider-harness/cassettes.ts'
import {
  describeCassettes,
  expectTruth,
  failureIn,
  responseOf,
  thoughtOf,
} from '../../../tests/provider-harness/cassettes.ts'
import { AnthropicChatClient } from './anthropic-chat-client.ts'

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

describeCassettes<Expected>({
  isOurs: (api) => api === 'anthropic-messages',
  open: (_, { url, fetch }) =>
    new AnthropicChatClient({ baseURL: url, fetch, apiKey: 'test-key', model: 'test-model' }),
  expectRecorded(result, cassette) {
    const { truth, wire, expected, synthetic } = cassette
    if (synthetic) expectTruth(result, truth!)
    else if (wire) expectAnswer(result, wire, cassette)
    else if (expected?.error) expectFailure(result, expected)
    else expectAnswer(result, expected!, cassette)
  },
})

function expectFailure(result: Result, { error: expected, partial }: Expected): void {
  const error = failureIn(result)
  expect(error.status ?? null).toBe(expected!.status)
  expect(error.details?.['type'] ?? null).toBe(expected!.type)
  if (expected!.requestId) expect(error.requestId).toBe(expected!.requestId)
  expect(error.partial?.text ?? '').toBe(partial?.text ?? '')
}

function expectAnswer(result: Result, expected: Expected, { stream }: Cassette<Expected>): void {
  const response = responseOf(result)
  const contents = response.messages.flatMap((each) => each.contents)

  expect(response.text).toBe(expected.text ?? '')
  expect(response.functionCalls.map(({ name }) => name)).toEqual(
    (expected.toolCalls ?? []).map(({ name }) => name),
  )
  for (const [at, call] of (expected.toolCalls ?? []).entries()) {
    const { arguments: raw } = response.functionCalls[at]!
    // Whole answers hold the input as JSON, whose white space is not the model's.
    if (stream && call.argumentsRaw !== '') expect(raw).toBe(call.argumentsRaw)
    if (call.arguments !== undefined) expect(JSON.parse(raw)).toEqual(call.arguments)
    if (call.id) expect(providerId(response.functionCalls[at]!)).toBe(call.id)
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
    expect(thoughtOf(response)).toBe(expected.reasoningText)
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
