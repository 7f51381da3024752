import type { Content } from '@lamella/core'
import { chatResponse, foldUpdates, message, toUpdates } from '@lamella/core'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Chunking } from '../index.ts'
import { callFunction, cutText, scriptedClient } from '../index.ts'

const chunkings: fc.Arbitrary<Chunking> = fc.oneof(
  fc.integer({ min: 1, max: 20 }),
  fc.constantFrom('char', 'word', 'whole'),
  fc.record({ seed: fc.integer(), maxChars: fc.integer({ min: 1, max: 9 }) }),
)

const texts = fc.string({ unit: 'grapheme', minLength: 1 })

const contents: fc.Arbitrary<Content> = fc.oneof(
  texts.map((text): Content => ({ type: 'text', text })),
  texts.map((text): Content => ({ type: 'reasoning', text })),
  texts.map(
    (uri): Content => ({
      type: 'text',
      text: uri,
      annotations: [{ type: 'citation', uri }],
      metadata: { of: uri },
    }),
  ),
  fc.json().map((args): Content => callFunction('look_up', args)),
  fc.constant<Content>({ type: 'uri', uri: 'https://example.com/a.png' }),
)

describe('cutting', () => {
  it('gives pieces that make the text again, and splits no surrogate pair', () => {
    fc.assert(
      fc.property(texts, chunkings, (text, chunking) => {
        const pieces = cutText(text, chunking)

        expect(pieces.join('')).toBe(text)
        expect(pieces.some((piece) => /\p{Surrogate}/u.test(piece))).toBe(false)
        expect(pieces).toEqual(cutText(text, chunking))
      }),
    )
  })

  it.for([0, -1, 1.5, Number.NaN])('refuses a size of %d', (size) => {
    expect(() => cutText('text', size)).toThrow(`got ${size}`)
  })

  it('refuses a function whose pieces are not the text', () => {
    expect(() => cutText('text', () => ['te'])).toThrow('must equal the text')
  })
})

it('a streamed answer folds to the plain one, however it is cut', async () => {
  const ask = { messages: [message('user', 'x')], instructions: undefined, options: {} }
  await fc.assert(
    fc.asyncProperty(fc.array(contents, { minLength: 1 }), chunkings, async (reply, chunk) => {
      const { signal } = new AbortController()
      const plain = await scriptedClient([reply]).respond({ ...ask, signal })
      const updates = []
      for await (const update of scriptedClient([reply], { chunk }).stream({ ...ask, signal })) {
        updates.push(update)
      }

      expect(foldUpdates(updates)).toEqual(foldUpdates(toUpdates(plain)))
    }),
  )
})

it('a reply of several messages is streamed as several', async () => {
  const reply = chatResponse({
    messages: [
      { role: 'assistant', contents: 'one', authorName: 'a' },
      { role: 'assistant', contents: 'two' },
    ],
  })

  const { messages } = await scriptedClient([reply])
    .getResponse('x', { stream: true })
    .finalResponse()

  expect(messages).toMatchObject([
    { authorName: 'a', contents: [{ text: 'one' }] },
    { contents: [{ text: 'two' }] },
  ])
})
