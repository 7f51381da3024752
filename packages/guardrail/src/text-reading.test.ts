import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AgentResponseUpdate } from '@lamella/core'
import { edited } from './applied-edit.ts'
import { holdBackGate } from './hold-back-gate.ts'
import type { ReadAs } from './scan-options.ts'
import { readingsOf } from './text-reading.ts'
import type { TextEdit } from './verdict.ts'

const word = /(?<!\p{L})swordfish(?!\p{L})/gu

function find(text: string): TextEdit[] {
  return Array.from(text.matchAll(word), ({ index, 0: match }) => ({
    start: index,
    end: index + match.length,
    replacement: '"*"',
  }))
}

/** Returns a complete text as a guardrail edits it. */
function redact(text: string): string {
  for (const { text: read, toOriginal } of readingsOf(text)) {
    const [edit] = find(read).flatMap(toOriginal)
    if (edit !== undefined) {
      const made = { start: edit.start, end: edit.end, replacement: edit.replacement! }
      return redact(edited(text, 0, 0, text.length, [made]))
    }
  }
  return text
}

/** The same for a text that comes in pieces. */
async function redactStream(pieces: readonly string[], readAs: ReadAs): Promise<string> {
  let said = ''
  const enqueue = ({ contents }: AgentResponseUpdate): void => {
    for (const part of contents) if (part.type === 'text') said += part.text
  }
  const gate = holdBackGate({
    release: 'window',
    readAs,
    pending: (text, from) => Math.max(from, text.length - 10),
    scan: ({ text, from }) => find(text).filter(({ start }) => start >= from),
  })
  for (const text of pieces) {
    // oxlint-disable-next-line no-await-in-loop
    await gate.transform!(
      { contents: [{ type: 'text', text }], role: 'assistant', messageId: 'm' },
      { enqueue, terminate: () => {} },
    )
  }
  await gate.flush!({ enqueue, terminate: () => {} })
  return said
}

function cut(text: string, at: readonly number[]): readonly string[] {
  const bounds = [0, ...at.map((n) => n % (text.length + 1)).toSorted((a, b) => a - b), text.length]
  return bounds.slice(1).map((end, index) => text.slice(bounds[index], end))
}

const strings = fc.string({
  unit: fc.constantFrom('a', '"', '\\', '\n', '\t', 'n', 'é', '😀', ' ', 'u', '0'),
  maxLength: 12,
})
const secrets = fc
  .tuple(strings, fc.constantFrom('\n', '\t', '\r', '\f', '\b', ' ', '"'), strings)
  .map(([before, edge, after]) => `${before}${edge}swordfish ${after}`)
const cuts = fc.array(fc.nat(), { maxLength: 12 })

/** JSON with a secret in it, in JSON strings in JSON up to four levels deep. */
const nested = fc
  .tuple(secrets, fc.array(fc.constantFrom('object', 'list'), { minLength: 1, maxLength: 4 }))
  .map(([secret, levels]) =>
    levels.reduce<string>(
      (text, level) => JSON.stringify(level === 'list' ? [text, 1] : { a: text, b: null }),
      secret,
    ),
  )

/** Replaces a range of the first reading of a text. */
function replaced(text: string, start: number, end: number): string {
  const edits = readingsOf(text)[0]!.toOriginal({ start, end, replacement: '*' })
  const made = edits.map((edit) => ({ ...edit, replacement: edit.replacement! }))
  return edited(text, 0, 0, text.length, made)
}

describe('JSON', () => {
  test.each([
    ['{"a":"one","b":[12,true,null]}', 'a: one\nb: 12\n'],
    [' [-1.5e3,"x\\ty"]', '-1.5e3\nx\ty\n'],
    ['{"a" \n :1}', 'a: 1\n'],
    ['{"a":1}\n\n{"b":2}\n', 'a: 1\nb: 2\n'],
  ])('%j is read as %j', (text, expected) => {
    expect(readingsOf(text)[0]?.text).toBe(expected)
  })

  test.each(['"one"', '12', '{"a":1', '{"a":1}\nb', '{"a":1}\n2', 'see {"a":1}', '{a}\n{"b":1}'])(
    'is no object or list here: %j',
    (text) => {
      expect(readingsOf(text).map((reading) => reading.text)).toEqual([text])
    },
  )

  // It is read as `a: one\nb: 12\nc: two\nthree\n4\n5\n`.
  const json = '{"a":"one","b":12,"c":["two","three",4,5]}'
  test.each([
    ['a value', 3, 6, '{"a":"*","b":12,"c":["two","three",4,5]}'],
    ['a part of a value', 4, 5, '{"a":"o*e","b":12,"c":["two","three",4,5]}'],
    ['a name', 0, 1, '{"*":"one","b":12,"c":["two","three",4,5]}'],
    ['a later name', 7, 8, '{"a":"one","*":12,"c":["two","three",4,5]}'],
    ['a name with its value', 0, 6, '{"*":"","b":12,"c":["two","three",4,5]}'],
    ['a part of a number', 10, 11, '{"a":"one","b":"*","c":["two","three",4,5]}'],
    ['what continues in the next field', 4, 12, '{"a":"o*","b":12,"c":["two","three",4,5]}'],
    ['what continues in the next value', 17, 22, '{"a":"one","b":12,"c":["t*","ree",4,5]}'],
    ['several numbers', 26, 29, '{"a":"one","b":12,"c":["two","three","*",""]}'],
    ['what is between two values', 6, 7, json],
  ])('stays JSON without %s', (_, start, end, expected) => {
    expect(replaced(json, start, end)).toBe(expected)
  })
})

describe('text behind JSON escapes', () => {
  test('is found at any depth of a complete JSON text, which stays JSON', () => {
    fc.assert(
      fc.property(nested, (json) => {
        const redacted = redact(json)

        expect(redacted).not.toContain('swordfish')
        expect(() => JSON.parse(redacted) as unknown).not.toThrow()
      }),
    )
  })

  test('is found in JSON inside a text, and in JSON lines', () => {
    fc.assert(
      fc.property(nested, nested, (first, second) => {
        expect(redact(`Here it is:\n${first}\nThat is all.`)).not.toContain('swordfish')
        expect(redact(`${first}\n${second}`)).not.toContain('swordfish')
      }),
    )
  })

  test('is found in an answer however it is cut, with one result', async () => {
    await fc.assert(
      fc.asyncProperty(nested, cuts, fc.constantFrom('json', 'decoded'), async (json, at, as) => {
        const whole = await redactStream([json], as)
        const streamed = await redactStream(cut(json, at), as)

        expect(streamed).toBe(whole)
        expect(whole).not.toContain('swordfish')
        const parse = as === 'json' ? JSON.parse : String
        expect(() => parse(whole) as unknown).not.toThrow()
      }),
    )
  })

  test('is found as it stands too, where it is no JSON', async () => {
    for (const text of [
      'C:\\swordfish',
      '\\swordfish',
      'a\\n swordfish',
      '\\bswordfish swordfish',
    ]) {
      expect(redact(text)).not.toMatch(word)
      // oxlint-disable-next-line no-await-in-loop
      expect(await redactStream(text.split(''), 'decoded')).not.toMatch(word)
    }
  })

  test('leaves no half of an escape behind', () => {
    const name = { start: 2, end: 6, replacement: '*' }
    const [reading] = readingsOf('a\\nick b')

    expect(reading!.toOriginal(name)).toEqual([{ ...name, start: 1 }])
    expect(reading!.toOriginal({ start: 0, end: 2 })).toEqual([{ start: 0, end: 3 }])
  })

  test('is read once for each level', () => {
    expect(readingsOf('a\\\\\\\\nb').map(({ text }) => text)).toEqual([
      'a\\\\\\\\nb',
      'a\\\\nb',
      'a\\nb',
      'a\nb',
    ])
  })

  test('is read once where there is none', () => {
    expect(readingsOf('plain text').map(({ text }) => text)).toEqual(['plain text'])
    expect(readingsOf('{"a":[1,"b"]}').map(({ text }) => text)).toEqual(['a: 1\nb\n'])
  })
})
