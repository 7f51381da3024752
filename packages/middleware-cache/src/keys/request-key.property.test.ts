import type { ChatContext, Content } from '@lamella/core'
import { chatMiddleware, message, text } from '@lamella/core'
import { runChatMiddleware } from '@lamella/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { cacheRequest } from './request-key.ts'
import { runs } from '../../../../tests/support/runs.ts'

const words = fc.string({ maxLength: 4 })
const content: fc.Arbitrary<Content> = fc.oneof(
  words.map(text),
  words.map((uri) => ({ type: 'uri' as const, uri })),
  fc.record({
    type: fc.constant('text' as const),
    text: words,
    metadata: fc.dictionary(words, words),
  }),
  fc.record({
    type: fc.constant('function-call' as const),
    callId: words,
    name: words,
    arguments: words,
  }),
)
const conversations = fc.array(
  fc.record({
    role: fc.constantFrom('user' as const, 'assistant' as const),
    contents: fc.array(content),
  }),
  { minLength: 1, maxLength: 3 },
)

let base: ChatContext
await runChatMiddleware(
  chatMiddleware('take', async (context, callNext) => {
    base = context
    await callNext()
  }),
)

type Conversation = readonly { readonly role: 'user' | 'assistant'; readonly contents: Content[] }[]

const keyOf = (conversation: Conversation): string => {
  const messages = conversation.map(({ role, contents }) => message(role, contents))
  const { client, instructions, options } = base
  return JSON.stringify(
    cacheRequest({ client, instructions, options, messages } as unknown as ChatContext),
  )
}

test('two conversations have one key only if they are equal, whatever their ids', () => {
  fc.assert(
    fc.property(conversations, conversations, (one, other) => {
      expect(keyOf(one)).toBe(keyOf(structuredClone(one)))
      expect(keyOf(one) === keyOf(other)).toBe(isEqual(one, other))
    }),
    { numRuns: runs(500) },
  )
})

function isEqual(one: unknown, other: unknown): boolean {
  try {
    expect(one).toEqual(other)
    return true
  } catch {
    return false
  }
}

test('a text cannot look like another kind of content', () => {
  const uri: Content = { type: 'uri', uri: 'a' }
  const [[, inside] = []] = (
    JSON.parse(keyOf([{ role: 'user', contents: [uri] }])) as {
      messages: [string, [string]][]
    }
  ).messages

  for (const alike of [JSON.stringify(inside), inside![0]]) {
    expect(keyOf([{ role: 'user', contents: [text(alike)] }])).not.toBe(
      keyOf([{ role: 'user', contents: [uri] }]),
    )
  }
})
