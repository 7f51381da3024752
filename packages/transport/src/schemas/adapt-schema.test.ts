import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { adaptSchema, ownArguments, UnfitSchema } from './adapt-schema.ts'

const rules = { propertyName: /^[\w.-]{1,64}$/ }
const text = { type: 'string' }

function adapted(schema: Readonly<Record<string, unknown>>): object {
  const fit = adaptSchema(schema, rules)
  if (fit instanceof UnfitSchema) throw new Error(fit.reason)
  return fit.schema
}

test.each([
  [
    'a choice of required properties',
    {
      type: 'object',
      properties: { a: text, b: text },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    { type: 'object', properties: { a: text, b: text } },
  ],
  [
    'a union of objects',
    {
      type: 'object',
      oneOf: [
        { properties: { kind: { const: 'a' }, a: text }, required: ['kind', 'a'] },
        { properties: { kind: { const: 'b' } }, required: ['kind'] },
      ],
    },
    {
      type: 'object',
      properties: { kind: { anyOf: [{ const: 'a' }, { const: 'b' }] }, a: text },
      required: ['kind'],
    },
  ],
  [
    'objects that all hold, by reference',
    {
      $defs: { base: { properties: { a: text }, required: ['a'] } },
      allOf: [{ $ref: '#/$defs/base' }, { properties: { b: text } }],
    },
    {
      $defs: { base: { properties: { a: text }, required: ['a'] } },
      type: 'object',
      properties: { a: text, b: text },
      required: ['a'],
    },
  ],
  [
    'a reference at the top',
    {
      $ref: '#/definitions/Root',
      definitions: { Root: { type: 'object', properties: { a: text } } },
    },
    {
      type: 'object',
      properties: { a: text },
    },
  ],
  [
    'a list without items',
    { type: 'object', properties: { list: { type: 'array' } } },
    { type: 'object', properties: { list: { type: 'array', items: {} } } },
  ],
  [
    'words of older drafts',
    {
      $schema: 'http://json-schema.org/draft-04/schema#',
      id: 'x',
      type: 'object',
      properties: {
        n: { type: 'number', minimum: 1, exclusiveMinimum: true, required: true },
        pair: { type: 'array', items: [text, { type: 'number' }], additionalItems: false },
        any: { type: 'any' },
        maybe: { type: 'string', nullable: true },
      },
    },
    {
      type: 'object',
      properties: {
        n: { type: 'number', exclusiveMinimum: 1 },
        pair: { type: 'array', items: { anyOf: [text, { type: 'number' }] } },
        any: {},
        maybe: { type: ['string', 'null'] },
      },
    },
  ],
  ['nothing', {}, { type: 'object', properties: {} }],
])('%s becomes what every provider accepts', (_, schema, expected) => {
  expect(adapted(schema)).toMatchObject(expected)
  for (const word of ['anyOf', 'oneOf', 'allOf', '$ref'])
    expect(adapted(schema)).not.toHaveProperty(word)
})

test('a schema that providers accept stays as it is', () => {
  const schema = {
    type: 'object',
    properties: {
      id: text,
      list: { type: 'array', items: text },
      open: { additionalProperties: true },
    },
    required: ['id'],
    additionalProperties: false,
  }

  expect(JSON.stringify(adapted(schema))).toBe(JSON.stringify(schema))
})

describe('names of properties', () => {
  const schema = {
    type: 'object',
    properties: {
      'StartTime<': text,
      StartTime__1: text,
      rows: {
        type: 'array',
        items: { properties: { ['x'.repeat(70)]: text, 'StartTime<': text } },
      },
    },
    required: ['StartTime<'],
  }

  test('are sent as the provider takes them, and arguments have those of the tool', () => {
    const fit = adaptSchema(schema, rules)
    if (fit instanceof UnfitSchema) throw new Error(fit.reason)

    const sent = fit.schema['required'] as string[]
    const long = [...fit.aliases].find(([, own]) => own.length === 70)![0]
    expect(sent).toEqual(['StartTime__2'])
    expect(
      ownArguments(
        JSON.stringify({ [sent[0]!]: 'a', rows: [{ [long]: 'b', __proto__x: 1 }] }),
        fit.aliases,
      ),
    ).toBe(JSON.stringify({ 'StartTime<': 'a', rows: [{ ['x'.repeat(70)]: 'b', __proto__x: 1 }] }))
    expect(ownArguments('{"no', fit.aliases)).toBe('{"no')
  })
})

test.each([
  [{ $ref: 'https://x.example/schema' }, 'its schema refers to another document'],
  [{ $ref: '#/$defs/none' }, 'its schema refers to nothing'],
  [{ type: 'array', items: text }, 'its schema is not that of an object'],
])('%j has no form, and says why', (schema, reason) => {
  expect(adaptSchema(schema, rules)).toMatchObject({ reason })
})

test('any schema has a form with legal names, or a reason', () => {
  const word = fc.constantFrom(
    'type',
    'properties',
    'items',
    'anyOf',
    'allOf',
    '$ref',
    'required',
    'enum',
  )
  const value = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('object', 'array', '#/properties/a', '#', null, true, 1),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(word, fc.string({ minLength: 1, maxLength: 3 })), tie('any'), {
        maxKeys: 3,
      }),
    ),
  })).any
  fc.assert(
    fc.property(fc.dictionary(word, value, { maxKeys: 4 }), (schema) => {
      const fit = adaptSchema(schema, rules)

      if (fit instanceof UnfitSchema) return
      expect(fit.schema['type']).toBe('object')
      for (const name of Object.keys(fit.schema['properties'] as object)) {
        expect(name).toMatch(rules.propertyName)
      }
    }),
  )
})
