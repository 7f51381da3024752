import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChatResponse, Content } from '@lamella/core'
import { chatResponse, toUpdates, foldUpdates } from '@lamella/core'
import type { HoldBackOptions } from './hold-back-gate.ts'
import type { Update } from './hold-back-gate.test-helper.ts'
import { drive, say, textIn } from './hold-back-gate.test-helper.ts'
import type { ReleasePolicy, ScanWindow } from './scan-options.ts'
import type { TextEdit } from './verdict.ts'

const policies: readonly ReleasePolicy[] = ['passthrough', 'window', 'sentence', 'full']

function wordGuardrail(
  words: readonly string[],
  action: 'replace' | 'block',
): Pick<HoldBackOptions, 'scan' | 'pending'> {
  return {
    scan: ({ text, from }) =>
      findWords(words, text, from).map(([start, end]) =>
        action === 'replace'
          ? { start, end, replacement: '*' }
          : {
              start,
              end,
              onReached: () => {
                throw new Error(text.slice(start, end))
              },
            },
      ),
    pending: (text, from) => openFrom(words, text, from),
  }
}

function findWords(words: readonly string[], text: string, from: number): [number, number][] {
  const longestFirst = words.toSorted((a, b) => b.length - a.length)
  const found: [number, number][] = []
  for (let at = from; at < text.length; at++) {
    const word = longestFirst.find((candidate) => text.startsWith(candidate, at))
    if (word === undefined) continue
    found.push([at, at + word.length])
    at += word.length - 1
  }
  return found
}

function openFrom(words: readonly string[], text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const tail = text.slice(at)
    if (words.some((word) => word.length > tail.length && word.startsWith(tail))) return at
  }
  return text.length
}

function cut(text: string, cuts: readonly number[]): Update[] {
  const at = [...new Set(cuts.map((c) => c % (text.length + 1)))].toSorted((a, b) => a - b)
  const bounds = [0, ...at, text.length]
  return bounds.slice(1).map((end, index) => say(text.slice(bounds[index], end)))
}

const letters = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', 'b', 'c', ' ', '.', '\n', '。', '😀', 'é'),
    maxLength: 60,
  }),
  fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 30 }),
)
const wordLists = fc.array(
  fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', '.', '😀'), minLength: 1, maxLength: 6 }),
    fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 4 }),
  ),
  { minLength: 1, maxLength: 4 },
)
const cuts = fc.array(fc.nat(), { maxLength: 60 })
const holding = fc.constantFrom<ReleasePolicy>('window', 'sentence', 'full')
const everyChars = fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined })

describe('for any text, words and chunks', () => {
  test('what leaves is the text with each match replaced, and only ever a beginning of it', async () => {
    await fc.assert(
      fc.asyncProperty(
        letters,
        wordLists,
        cuts,
        holding,
        everyChars,
        async (text, words, at, release, checkEveryChars) => {
          let expected = ''
          let last = 0
          for (const [start, end] of findWords(words, text, 0)) {
            expected += `${text.slice(last, start)}*`
            last = end
          }
          expected += text.slice(last)

          const { updates, error, steps } = await drive(
            { release, checkEveryChars, ...wordGuardrail(words, 'replace') },
            cut(text, at),
          )

          expect(error).toBeUndefined()
          expect(textIn(updates)).toBe(expected)
          for (const step of steps) expect(expected.startsWith(step)).toBe(true)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('the first match blocks, and nothing from it on has left', async () => {
    await fc.assert(
      fc.asyncProperty(
        letters,
        wordLists,
        cuts,
        holding,
        everyChars,
        async (text, words, at, release, checkEveryChars) => {
          const [first] = findWords(words, text, 0)

          const { updates, error } = await drive(
            { release, checkEveryChars, ...wordGuardrail(words, 'block') },
            cut(text, at),
          )

          expect((error as Error | undefined)?.message).toBe(first && text.slice(...first))
          expect(text.slice(0, first?.[0]).startsWith(textIn(updates))).toBe(true)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('a fixed hold as long as the longest match does as well', async () => {
    await fc.assert(
      fc.asyncProperty(
        letters,
        wordLists,
        cuts,
        fc.constantFrom<ReleasePolicy>('window', 'full'),
        async (text, words, at, release) => {
          const { scan } = wordGuardrail(words, 'replace')
          const holdChars = Math.max(...words.map(({ length }) => length))

          const whole = await drive({ release, holdChars, scan }, [say(text)])
          const chunked = await drive({ release, holdChars, scan }, cut(text, at))

          expect(textIn(chunked.updates)).toBe(textIn(whole.updates))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('a guardrail that judges what it is shown is shown the same at set distances, sentences and the end', async () => {
    const policiesAndPace = fc.oneof(
      fc.record({
        release: fc.constant<ReleasePolicy>('window'),
        checkEveryChars: fc.integer({ min: 1, max: 9 }),
      }),
      fc.record({
        release: fc.constantFrom<ReleasePolicy>('sentence', 'full'),
        checkEveryChars: everyChars,
      }),
    )

    await fc.assert(
      fc.asyncProperty(letters, cuts, policiesAndPace, async (text, at, options) => {
        const shown: [ScanWindow[], ScanWindow[]] = [[], []]
        const spy =
          (to: ScanWindow[]): HoldBackOptions['scan'] =>
          (window) =>
            void to.push(window)

        await drive({ ...options, scan: spy(shown[0]) }, [say(text)])
        await drive({ ...options, scan: spy(shown[1]) }, cut(text, at))

        expect(shown[1]).toEqual(shown[0])
      }),
    )
  })

  test('whoever only watches finds all and changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(letters, wordLists, cuts, async (text, words, at) => {
        let found = 0
        const { scan, pending } = wordGuardrail(words, 'replace')
        const input = cut(text, at)

        const { updates } = await drive(
          {
            release: 'passthrough',
            pending,
            scan: (window) =>
              (scan(window) as TextEdit[]).map((edit) => ({ ...edit, onReached: () => found++ })),
          },
          input,
        )

        expect(textIn(updates)).toBe(text)
        expect(found).toBe(findWords(words, text, 0).length)
      }),
    )
  })

  test('no piece of text ends inside a character', async () => {
    const smiles = fc.string({ unit: fc.constantFrom('😀', 'a', '🙈'), maxLength: 20 })

    await fc.assert(
      fc.asyncProperty(smiles, cuts, fc.constantFrom(...policies), async (text, at, release) => {
        const { updates } = await drive(
          { release, ...wordGuardrail(['a', '🙈a'], 'replace') },
          cut(text, at),
        )

        const wellFormed = updates.flatMap(({ contents }) =>
          contents.map(
            (c) => c.type === 'text' && !/^[\udc00-\udfff]|[\ud800-\udbff]$/.test(c.text),
          ),
        )
        expect(wellFormed.every(Boolean)).toBe(true)
      }),
    )
  })

  test('a response comes to the same message in pieces as at once, whatever its parts are', async () => {
    const parts = fc.array(
      fc.oneof(
        letters.map((text): Content => ({ type: 'text', text })),
        letters.map((text): Content => ({ type: 'reasoning', text })),
        fc.constant<Content>({
          type: 'function-call',
          callId: 'c',
          name: 'f',
          arguments: '{"q":"abc"}',
        }),
        fc.constant<Content>({ type: 'data', mediaType: 'image/png', data: 'AAAA' }),
      ),
      { maxLength: 5 },
    )

    await fc.assert(
      fc.asyncProperty(
        parts,
        wordLists,
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom(...policies),
        async (contents, words, size, release) => {
          const options: HoldBackOptions = {
            release,
            parts: ['text', 'reasoning', 'arguments'],
            ...wordGuardrail(words, 'replace'),
          }
          const whole = chatResponse({ messages: [{ id: 'm1', role: 'assistant', contents }] })

          const atOnce = await drive(options, toUpdates(foldUpdates(toUpdates(whole))))
          const inPieces = await drive(options, pieces(whole, size))

          expect(foldUpdates(inPieces.updates)).toEqual(foldUpdates(atOnce.updates))
        },
      ),
      { numRuns: 300 },
    )
  })
})

function pieces(response: ChatResponse, size: number): Update[] {
  return toUpdates(response).flatMap((update) =>
    update.contents.length === 0
      ? [update]
      : update.contents
          .flatMap((content) => cutContent(content, size))
          .map((content) => ({ ...update, contents: [content] })),
  )
}

function cutContent(content: Content, size: number): Content[] {
  if (content.type !== 'text' && content.type !== 'reasoning') return [content]
  return Array.from({ length: Math.ceil(content.text.length / size) }, (_, index) => ({
    ...content,
    text: content.text.slice(index * size, (index + 1) * size),
  }))
}
