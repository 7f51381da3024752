import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { strictSchema } from './strict-schema.ts'

const object = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...more,
})
const string = { type: 'string' }

describe('accepted', () => {
  test.each([
    ['an object', object({ a: string })],
    ['nothing in it', { type: 'object' }],
    ['lists and nested objects', object({ a: { type: 'array', items: object({ b: string }) } })],
    ['alternatives below the top', object({ a: { anyOf: [string, { type: 'null' }] } })],
    ['values to choose from', object({ a: { enum: ['x', 'y'] }, b: { const: 1 } })],
    ['itself', object({ a: { $ref: '#' } })],
    ['definitions', object({ a: { $ref: '#/$defs/A' } }, { $defs: { A: object({ b: string }) } })],
    [
      'limits',
      object({
        a: { type: 'number', minimum: 0 },
        b: { type: 'string', pattern: '^x', format: 'date' },
      }),
    ],
  ])('%s', (_, schema) => {
    expect(strictSchema(schema)).toBeDefined()
  })

  test('objects are closed, all the way down', () => {
    expect(strictSchema(object({ a: object({ b: string }) }))).toEqual(
      object(
        { a: object({ b: string }, { additionalProperties: false }) },
        { additionalProperties: false },
      ),
    )
  })

  test('what says nothing about what fits is taken out', () => {
    const schema = object(
      {
        a: {
          type: 'string',
          default: 'x',
          format: 'uri',
          examples: ['y'],
          description: 'An address.',
        },
      },
      { $schema: 'https://json-schema.org/draft/2020-12/schema' },
    )

    expect(strictSchema(schema)).toEqual(
      object(
        { a: { type: 'string', description: 'An address.' } },
        { additionalProperties: false },
      ),
    )
  })

  test('a property may have any name', () => {
    expect(strictSchema(object({ ['__proto__']: string, default: string }))).toMatchObject({
      required: ['__proto__', 'default'],
    })
  })

  test('of zod, what has neither optional parts nor open ones', () => {
    const schema = z.object({
      a: z.string().nullable(),
      b: z.array(z.enum(['x', 'y'])),
      c: z.int(),
    })
    const json = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' })

    expect(strictSchema(json)).toMatchObject({
      required: ['a', 'b', 'c'],
      additionalProperties: false,
    })
  })
})

test.each([
  ['no object', { type: 'array', items: string }],
  ['alternatives at the top', { type: 'object', anyOf: [object({})] }],
  ['an optional property', { type: 'object', properties: { a: string } }],
  ['an open object', object({ a: string }, { additionalProperties: true })],
  ['a dictionary', object({ a: { type: 'object', additionalProperties: string } })],
  ['a list of anything', object({ a: { type: 'array' } })],
  ['anything', object({ a: {} })],
  ['true', object({ a: true })],
  ['oneOf', object({ a: { oneOf: [string] } })],
  ['patternProperties', object({}, { patternProperties: { x: string } })],
  ['a keyword that nobody knows', object({ a: { ...string, contentEncoding: 'base64' } })],
  [
    'eleven levels',
    Array.from({ length: 11 }).reduce<object>((inner) => object({ a: inner }), string),
  ],
])('%s is not accepted', (_, schema) => {
  expect(strictSchema(schema as Record<string, unknown>)).toBeUndefined()
})
