import type { JsonSchema } from '@lamella/core'
import { expect, test } from 'vitest'
import { outputSchema } from './output-schema.ts'

test.each<[string, JsonSchema, JsonSchema]>([
  [
    'objects are closed, at every depth',
    {
      $schema: 'x',
      type: 'object',
      properties: { a: { type: 'array', items: { type: 'object' } } },
      additionalProperties: true,
    },
    {
      type: 'object',
      properties: {
        a: {
          type: 'array',
          items: { type: 'object', properties: {}, additionalProperties: false },
        },
      },
      additionalProperties: false,
    },
  ],
  [
    'limits go into the description',
    { type: 'string', description: 'A name.', minLength: 2, pattern: '^A' },
    { type: 'string', description: 'A name.\n\n{minLength: 2, pattern: "^A"}' },
  ],
  [
    'formats and counts that Anthropic knows stay, others are described',
    { type: 'array', minItems: 1, maxItems: 3, items: { type: 'string', format: 'email' } },
    {
      type: 'array',
      minItems: 1,
      description: '{maxItems: 3}',
      items: { type: 'string', format: 'email' },
    },
  ],
  [
    'an unknown format is described',
    { type: 'string', format: 'phone' },
    { type: 'string', description: '{format: "phone"}' },
  ],
  [
    'one of several is any of several, and definitions go along',
    {
      $defs: { b: { type: 'integer', minimum: 0 } },
      oneOf: [{ $ref: '#/$defs/b' }, { const: 1 }, { enum: ['x', null] }],
    },
    {
      $defs: { b: { type: 'integer', description: '{minimum: 0}' } },
      anyOf: [{ $ref: '#/$defs/b' }, { const: 1 }, { enum: ['x', null] }],
    },
  ],
  [
    'a dictionary has no form that is accepted, and is sent as it is',
    { type: 'object', additionalProperties: { type: 'number' } },
    { type: 'object', properties: {}, additionalProperties: { type: 'number' } },
  ],
])('%s', (_fact, schema, shown) => {
  expect(outputSchema(schema)).toEqual(shown)
})

test('the caller’s schema stays as it was', () => {
  const schema = { type: 'object', properties: { a: { type: 'number', minimum: 1 } } }
  const before = structuredClone(schema)

  outputSchema(schema)

  expect(schema).toEqual(before)
})
