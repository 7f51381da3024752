import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { googleSchema } from './google-schema.ts'

type Wire = Readonly<Record<string, unknown>>

describe('a schema is sent in the subset that Google takes', () => {
  test.each<[string, Wire, Wire]>([
    [
      'keywords that it knows stay',
      { type: 'array', items: { type: 'string' }, minItems: 1 },
      { type: 'array', items: { type: 'string' }, minItems: 1 },
    ],
    ['a constant is an enumeration of one', { const: 'a' }, { enum: ['a'] }],
    ['`oneOf` is `anyOf`', { oneOf: [{ type: 'string' }] }, { anyOf: [{ type: 'string' }] }],
    [
      'an empty text is no choice',
      { enum: ['', 'a'] },
      { enum: ['a'], description: '{enum: ["","a"]}' },
    ],
    [
      'other limits become words',
      { type: 'string', pattern: '^a', description: 'An a.' },
      { type: 'string', description: 'An a.\n\n{pattern: "^a"}' },
    ],
    [
      'a format that it does not know becomes words',
      { type: 'string', format: 'uri' },
      { type: 'string', description: '{format: "uri"}' },
    ],
    [
      'a list of items is that of an older draft',
      { type: 'array', items: [{ type: 'string' }] },
      { type: 'array', prefixItems: [{ type: 'string' }] },
    ],
    ['`nullable` is a type', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [
      'a property of any kind is one of no kind',
      { properties: { a: true, b: false } },
      { properties: { a: {} } },
    ],
    [
      'parts that hold at once are one',
      {
        allOf: [
          { properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { type: 'string' } }, required: ['b'] },
        ],
      },
      { properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a', 'b'] },
    ],
  ])('%s', (_name, given, sent) => {
    expect(googleSchema(given).schema).toEqual(sent)
  })

  test.each<[string, Wire, Wire]>([
    [
      'definitions of older drafts move',
      { properties: { a: { $ref: '#/definitions/A' } }, definitions: { A: { type: 'string' } } },
      { properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: { type: 'string' } } },
    ],
    [
      'a description stands beside a reference, and nothing else',
      {
        properties: { a: { $ref: '#/$defs/A', description: 'It.', default: 1 } },
        $defs: { A: { type: 'string' } },
      },
      {
        properties: { a: { anyOf: [{ $ref: '#/$defs/A' }], description: 'It.' } },
        $defs: { A: { type: 'string' } },
      },
    ],
    [
      'a reference to a property is one to a definition',
      { properties: { h: { type: 'object' }, a: { $ref: '#/properties/h' } } },
      {
        properties: { h: { type: 'object' }, a: { $ref: '#/$defs/h' } },
        $defs: { h: { type: 'object' } },
      },
    ],
    [
      'a schema may refer to itself',
      { type: 'object', properties: { next: { $ref: '#' } } },
      {
        type: 'object',
        properties: { next: { $ref: '#/$defs/root' } },
        $defs: { root: { type: 'object', properties: { next: { $ref: '#/$defs/root' } } } },
      },
    ],
  ])('%s', (_name, given, sent) => {
    expect(googleSchema(given).schema).toEqual(sent)
  })

  test('alternatives at the top of parameters become one object that names them', () => {
    const kind = (value: string, more: string): Wire => ({
      type: 'object',
      properties: { kind: { const: value }, [more]: { type: 'string' } },
      required: ['kind', more],
    })

    const { schema } = googleSchema(
      { type: 'object', oneOf: [kind('a', 'x'), kind('b', 'y')] },
      true,
    )

    expect(schema).toEqual({
      type: 'object',
      properties: {
        kind: { anyOf: [{ enum: ['a'] }, { enum: ['b'] }] },
        x: { type: 'string' },
        y: { type: 'string' },
      },
      required: ['kind'],
      description: '{one of these groups of properties: [["kind","x"],["kind","y"]]}',
    })
  })

  test('a property may have the name of a prototype', () => {
    const given = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}')

    expect(JSON.stringify(googleSchema(given, true).schema)).toBe(JSON.stringify(given))
  })
})

describe('a schema that cannot be adapted says why', () => {
  let deep: Wire = { type: 'string' }
  for (let depth = 0; depth < 1000; depth++) deep = { type: 'array', items: deep }
  // Each definition holds the next one twice.
  const bomb = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [
      `d${at}`,
      { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
    ]),
  )

  test.each<[string, Wire, string]>([
    [
      'of another document',
      { properties: { a: { $ref: 'https://a.example/b.json' } } },
      'its schema refers to another document',
    ],
    [
      'without its definition',
      { properties: { a: { $ref: '#/$defs/A' } } },
      'its schema refers to a definition that is not there',
    ],
    ['of itself at the top', { $ref: '#' }, 'its schema is nested too deeply'],
    [
      'of a thousand levels',
      { type: 'object', properties: { a: deep } },
      'its schema is nested too deeply',
    ],
    [
      'that grows without end',
      { properties: { a: { $ref: '#/$defs/d0' } }, $defs: { ...bomb, d20: {} } },
      'its schema is too large',
    ],
    ['of no object', { anyOf: [{ type: 'string' }] }, 'its parameters are no object'],
  ])('a schema %s', (_name, given, reason) => {
    expect(googleSchema(given, true).reason).toBe(reason)
  })
})

test('whatever a schema holds, only keywords that Google takes are sent', () => {
  const keyword = fc.constantFrom(
    'pattern',
    'not',
    'if',
    'const',
    'examples',
    '$id',
    'title',
    'minLength',
    'uniqueItems',
  )
  const { schema } = fc.letrec<{ schema: Wire }>((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.record({ type: fc.constantFrom('string', 'integer', 'boolean') }),
      fc.dictionary(keyword, fc.oneof(fc.string(), fc.integer())),
      fc.record({
        type: fc.constant('object'),
        properties: fc.dictionary(fc.string(), tie('schema')),
      }),
      fc.record({ type: fc.constant('array'), items: tie('schema') }),
      fc.record({ oneOf: fc.array(tie('schema'), { maxLength: 3 }) }),
      fc.record({ allOf: fc.array(tie('schema'), { maxLength: 3 }) }),
    ),
  }))

  fc.assert(
    fc.property(schema, (given) => {
      for (const sent of keywordsOf(googleSchema(given).schema!)) expect(taken).toContain(sent)
    }),
  )
})

const taken = [
  'type',
  'format',
  'title',
  'description',
  'enum',
  'items',
  'prefixItems',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'anyOf',
  'properties',
  'additionalProperties',
  'required',
  'propertyOrdering',
  '$ref',
  '$defs',
]

function keywordsOf(schema: Wire): readonly string[] {
  const { properties = {}, $defs = {}, items, prefixItems = [], anyOf = [] } = schema
  const parts = [
    ...Object.values(properties as Wire),
    ...Object.values($defs as Wire),
    ...(items ? [items] : []),
    ...(prefixItems as Wire[]),
    ...(anyOf as Wire[]),
  ]
  return [...Object.keys(schema), ...parts.flatMap((part) => keywordsOf(part as Wire))]
}
