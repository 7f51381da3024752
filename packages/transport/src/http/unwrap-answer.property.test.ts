import type { ChatResponseUpdate, JsonSchema } from '@lamella/core'
import { foldUpdates } from '@lamella/core'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../tests/support/runs.ts'
import { answerSchema } from '../schemas/answer-schema.ts'
import type { AnswerMapper } from './unwrap-answer.ts'
import { unwrapAnswer } from './unwrap-answer.ts'

/** A mapper whose events are pieces of text, or `null` for another content. */
function pieceMapper(): AnswerMapper {
  const map = (event: unknown, updates: ChatResponseUpdate[]): void => {
    const content =
      typeof event === 'string'
        ? ({ type: 'text', text: event } as const)
        : ({ type: 'hosted', name: 'search', data: {} } as const)
    updates.push({ contents: [content] })
  }
  return {
    isOver: false,
    map,
    end: () => true,
    whole: ({ pieces }, updates) => {
      for (const piece of pieces as unknown[]) map(piece, updates)
    },
  }
}

const formatOf = (schema: JsonSchema) => ({
  schema: {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => schema, output: () => schema },
    },
  } as const,
})
const list = formatOf({ type: 'array', items: {} })

/** The texts of an answer in these pieces, streamed, and all of its updates. */
function streamed(pieces: readonly unknown[], format = list): string[] {
  const mapper = unwrapAnswer({ options: { responseFormat: format } }, pieceMapper())
  const updates: ChatResponseUpdate[] = []
  for (const piece of pieces) mapper.map(piece, updates)
  expect(mapper.end(false, updates)).toBe(true)
  const { messages } = foldUpdates(updates)
  const plain: ChatResponseUpdate[] = []
  unwrapAnswer({ options: { responseFormat: format } }, pieceMapper()).whole({ pieces }, plain)
  expect(foldUpdates(plain).messages.map(({ contents }) => contents)).toEqual(
    messages.map(({ contents }) => contents),
  )
  return messages.flatMap(({ contents }) =>
    contents.flatMap((content) => (content.type === 'text' ? [content.text] : [])),
  )
}

/** Cuts a text behind these many characters each. */
function cut(text: string, sizes: readonly number[]): readonly string[] {
  const pieces: string[] = []
  let at = 0
  for (let index = 0; at < text.length; index++) {
    const size = sizes[index % sizes.length]!
    pieces.push(text.slice(at, at + size))
    at += size
  }
  return pieces
}

const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1 })
const space = fc.stringMatching(/^[ \n\t]{0,3}$/)

test('a wrapped value comes out as it is, in whatever pieces it comes', () => {
  fc.assert(
    fc.property(
      fc.json(),
      fc.array(space, { minLength: 6, maxLength: 6 }),
      sizes,
      (json, [a, b, c, d, e, f], lengths) => {
        const wrapped = `${a}{${b}"value"${c}:${d}${json}${e}}${f}`
        const [text = '', ...more] = streamed(cut(wrapped, lengths))

        expect(more).toEqual([])
        expect(text.trimEnd()).toBe(json.trimEnd())
      },
    ),
    { numRuns: runs(500) },
  )
})

test('a text that is not wrapped stays as it is, in whatever pieces it comes', () => {
  const texts = fc.oneof(
    fc.string({ minLength: 1 }),
    fc.json(),
    fc.constantFrom('{', '{"value"', '{"value":', '{"val":1}', '{"value" 1}', '{"values":[]}'),
  )
  const plain = texts.filter((text) => !/^\s*\{\s*"value"\s*:\s*\S/.test(text))
  fc.assert(
    fc.property(plain, sizes, (text, lengths) => {
      expect(streamed(cut(text, lengths)).join('')).toBe(text)
    }),
    { numRuns: runs(500) },
  )
})

describe('a wrapped value', () => {
  test('that is cut is all that came of it', () => {
    expect(streamed(['{"value":[1,', '2'])).toEqual(['[1,2'])
  })

  test('in each text of an answer is one of its own', () => {
    expect(streamed(['{"value":[1]}', null, '{"va', 'lue":[2]}', null, '{'])).toEqual([
      '[1]',
      '[2]',
      '{',
    ])
  })
})

test('an object is neither wrapped nor unwrapped', () => {
  const object: JsonSchema = { type: 'object', properties: { value: {} } }
  const named = { $ref: '#/$defs/a', $defs: { a: object } }

  for (const schema of [object, named]) {
    expect(answerSchema(formatOf(schema))).toEqual({ schema, isWrapped: false })
    expect(streamed(['{"value":', '1}'], formatOf(schema))).toEqual(['{"value":1}'])
  }
})

test('definitions stay at the top of a wrapped schema, and references lead to them', () => {
  const $defs = { city: { type: 'string' } }
  const items = { $ref: '#/$defs/city' }
  const tree = { anyOf: [{ type: 'null' }, { type: 'array', items: { $ref: '#' } }] }

  expect(answerSchema(formatOf({ type: 'array', items, $defs })).schema).toEqual({
    type: 'object',
    properties: { value: { type: 'array', items } },
    required: ['value'],
    additionalProperties: false,
    $defs,
  })
  expect(answerSchema(formatOf(tree)).schema).toMatchObject({
    properties: { value: { $ref: '#/$defs/value' } },
    $defs: {
      value: { anyOf: [{ type: 'null' }, { type: 'array', items: { $ref: '#/$defs/value' } }] },
    },
  })
})
