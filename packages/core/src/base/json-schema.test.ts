import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { validateJsonSchema } from './json-schema.ts'

function messages(schema: object, value: unknown): string[] {
  return validateJsonSchema(schema as never, value).map(({ message, path = [] }) =>
    [path.map(String).join('.'), message].filter(Boolean).join(' '),
  )
}

describe('what each keyword says of a value that does not fit', () => {
  const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

  test.each<[object, unknown, string]>([
    [{ type: 'string' }, 1, 'must be string'],
    [{ type: 'integer' }, 1.5, 'must be integer'],
    [{ type: 'object' }, [], 'must be object'],
    [{ type: 'number' }, null, 'must be number'],
    [{ type: ['string', 'null'] }, 1, 'must be string or null'],
    [{ const: { a: 1 } }, { a: 2 }, 'must be {"a":1}'],
    [{ enum: ['C', 'F', 1] }, '1', 'must be "C" or "F" or 1'],
    [{ enum: [null] }, JSON.parse('1e999'), 'must be null'],
    [{ enum: ['C', 'F'], const: 'C' }, 'F', 'must be "C"'],
    [{ minimum: 3 }, 2, 'must fit minimum 3'],
    [{ maximum: 3 }, 4, 'must fit maximum 3'],
    [{ exclusiveMinimum: 3 }, 3, 'must fit exclusiveMinimum 3'],
    [{ exclusiveMaximum: 3 }, 3, 'must fit exclusiveMaximum 3'],
    [{ multipleOf: 0.01 }, 19.995, 'must fit multipleOf 0.01'],
    [{ multipleOf: 1 }, 1e-9, 'must fit multipleOf 1'],
    [{ minLength: 2 }, '😀', 'must fit minLength 2'],
    [{ maxLength: 2 }, 'abc', 'must fit maxLength 2'],
    [{ pattern: '^a' }, 'ba', 'must fit pattern ^a'],
    [{ minItems: 1 }, [], 'must fit minItems 1'],
    [{ maxItems: 1 }, [1, 2], 'must fit maxItems 1'],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      'must fit uniqueItems',
    ],
    [{ items: { type: 'string' } }, ['a', 1], '1 must be string'],
    [{ prefixItems: [{ type: 'string' }] }, [1, 2], '0 must be string'],
    [{ prefixItems: [{ type: 'string' }], items: false }, ['a', 1], '1 is not allowed'],
    [{ items: [{ type: 'string' }], additionalItems: false }, ['a', 1], '1 is not allowed'],
    [{ minProperties: 1 }, {}, 'must fit minProperties 1'],
    [{ maxProperties: 0 }, { a: 1 }, 'must fit maxProperties 0'],
    [city, {}, 'city is required'],
    [city, { city: null }, 'city must be string'],
    [{ properties: { cities: { items: city } } }, { cities: [{}] }, 'cities.0.city is required'],
    [{ additionalProperties: false }, { a: 1 }, 'a is not allowed'],
    [{ additionalProperties: { type: 'string' } }, { a: 1 }, 'a must be string'],
    [{ patternProperties: { '^x-': { type: 'string' } } }, { 'x-a': 1 }, 'x-a must be string'],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, 'ab must fit maxLength 1'],
    [{ contains: { type: 'string' } }, [1], 'must fit contains'],
    [{ contains: { type: 'string' }, maxContains: 1 }, ['a', 'b'], 'must fit contains'],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, 'b is required'],
    [{ dependentSchemas: { a: { required: ['b'] } } }, { a: 1 }, 'b is required'],
    [{ dependencies: { a: ['b'] } }, { a: 1 }, 'b is required'],
    [{ allOf: [{ type: 'string' }] }, 1, 'must be string'],
    [{ oneOf: [{ type: 'number' }, { minimum: 0 }] }, 1, 'must fit oneOf'],
    [{ not: { type: 'number' } }, 1, 'must fit not'],
    [JSON.parse('{"if":{"minimum":5},"then":{"maximum":7}}'), 8, 'must fit maximum 7'],
    [{ if: { minimum: 5 }, else: { minimum: 3 } }, 2, 'must fit minimum 3'],
    [{ $ref: '#/$defs/x', $defs: { x: { type: 'string' } } }, 1, 'must be string'],
    [{ $ref: '#/$defs/a~1b%25', $defs: { 'a/b%': false } }, 1, 'is not allowed'],
  ])('%j, %j: %s', (schema, value, expected) => {
    expect(messages(schema, value)).toEqual([expected])
  })

  test.each<[object, unknown]>([
    [{ type: 'integer' }, 2.0],
    [{ multipleOf: 0.01 }, 19.99],
    [{ multipleOf: 0.1 }, 0.3],
    [{ minimum: 3, maximum: 3 }, 3],
    [{ minLength: 1 }, 12],
    [{ minLength: 1, maxLength: 1 }, '😀'],
    [{ minItems: 1, maxItems: 1 }, ['a']],
    [{ uniqueItems: true }, [1, '1']],
    [{ uniqueItems: false }, [1, 1]],
    [{ minProperties: 1, maxProperties: 1 }, { a: 1 }],
    [{ format: 'email', unevaluatedProperties: false, 'x-mine': 1 }, 'no address'],
    [{ pattern: '^[\\w-.]+$' }, 'a-b'],
    [{ pattern: '^\\p{Letter}+$' }, 'é'],
    [{ exclusiveMinimum: true, minimum: 1 }, 1],
    [{ exclusiveMaximum: true, maximum: 3 }, 3],
    [{ properties: { a: { type: 'string' } }, required: [] }, { a: undefined }],
    [{ required: true, properties: null, enum: 'x', allOf: {} }, {}],
    [{ patternProperties: { a: {} }, additionalProperties: false }, { a: 1 }],
    [{ patternProperties: { '^x-': { type: 'string' } } }, { a: 1 }],
    [{ minContains: 0, contains: false }, []],
    [{ contains: { type: 'string' }, maxContains: 1 }, ['a', 1]],
    [{ dependentRequired: { constructor: ['a'] } }, {}],
    [{ oneOf: [{ type: 'number' }, { type: 'string' }] }, 1],
  ])('%j lets %j pass', (schema, value) => {
    expect(messages(schema, value)).toEqual([])
  })
})

describe('of alternatives that all fail', () => {
  const circle = {
    properties: { kind: { const: 'circle' }, r: { type: 'number' } },
    required: ['r'],
  }
  const box = { properties: { kind: { const: 'box' }, w: {}, h: {} }, required: ['w', 'h'] }

  test('the one that came nearest says why', () => {
    expect(messages({ anyOf: [box, circle] }, { kind: 'circle', r: '1' })).toEqual([
      'r must be number',
    ])
    expect(messages({ oneOf: [{ type: 'null' }, box] }, { kind: 'box', w: 1 })).toEqual([
      'h is required',
    ])
  })

  test('none says why if none is of the right type', () => {
    expect(messages({ anyOf: [{ type: 'null' }, { type: 'object' }] }, 'x')).toEqual([
      'must fit anyOf',
    ])
  })
})

describe('names that prototypes have', () => {
  test('are properties like any other', () => {
    const value = JSON.parse('{"__proto__":1,"constructor":1}')
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"}},"additionalProperties":{"type":"string"}}',
    )

    expect(messages(schema, value)).toEqual([
      '__proto__ must be string',
      'constructor must be string',
    ])
  })

  test('are missing where they are not there', () => {
    const required = ['__proto__', 'constructor', 'toString']

    expect(messages({ required }, {})).toEqual(required.map((name) => `${name} is required`))
    expect(messages({ $ref: '#/constructor' }, {})).toEqual([
      'cannot be checked: the schema has no #/constructor',
    ])
  })
})

describe('recursive schemas', () => {
  const tree = { type: 'object', properties: { next: { $ref: '#' }, n: { type: 'number' } } }

  test('follow the value to its end', () => {
    expect(messages(tree, { next: { next: { n: 1 } } })).toEqual([])
    expect(messages(tree, { next: { next: { n: '1' } } })).toEqual(['next.next.n must be number'])
  })

  test('say where, also for a value that was checked before', () => {
    const leaf = { $ref: '#/$defs/leaf' }
    const schema = { properties: { a: leaf, b: leaf }, $defs: { leaf: { type: 'string' } } }

    expect(messages(schema, { a: 1, b: 1 })).toEqual(['a must be string', 'b must be string'])
  })

  test('check a value once for each reference, however many alternatives lead there', () => {
    const self = { $ref: '#' }
    const kinds = ['a', 'b', 'c', 'd'].map((kind) => ({
      properties: { kind: { const: kind }, left: self, right: self },
      required: ['kind'],
    }))
    let reads = 0
    let value: object = {
      get kind() {
        reads++
        return 'e'
      },
    }
    for (let depth = 0; depth < 6; depth++) value = { kind: 'a', left: value, right: value }

    const found = messages({ anyOf: kinds }, value)

    expect(found).toContainEqual(expect.stringMatching(/kind must be/))
    expect(reads).toBeLessThan(20)
  })

  test.each<[string, object, unknown]>([
    ['a value too deep for the stack', { items: { $ref: '#' } }, nest(100_000)],
    ['a reference that leads nowhere but to itself', { $ref: '#' }, {}],
    ['two of those', { anyOf: [{ $ref: '#' }, { $ref: '#' }] }, 1],
    ['a reference to elsewhere', { $ref: 'https://example.org/schema.json' }, 1],
    ['a reference into another file', { $ref: 'a.json#/$defs/b', $defs: { b: {} } }, 1],
    ['a reference that is no text', { $ref: 1 }, 1],
    ['a reference to an anchor', { $ref: '#name', $defs: { a: { $anchor: 'name' } } }, 1],
    ['a reference to nothing', { $ref: '#/$defs/none' }, 1],
    ['a pattern that is none', { pattern: '(' }, 'x'],
  ])('that cannot be followed reject: %s', (_name, schema, value) => {
    expect(messages(schema, value)).toEqual([expect.stringMatching(/^cannot be checked: /)])
  })
})

test('no more than 100 issues are told', () => {
  expect(messages({ items: false }, Array.from({ length: 5000 }))).toHaveLength(100)
})

test('of a place that is very deep, how it begins is told', () => {
  let value: unknown = Array.from({ length: 200 }, () => 1)
  for (let level = 0; level < 100; level++) value = [value]

  const issues = validateJsonSchema({ type: 'array', items: { $ref: '#' } }, value)

  expect(issues).toHaveLength(100)
  expect(issues[0]?.path).toEqual(Array.from({ length: 20 }, () => 0))
})

test('no schema and no value make it throw', () => {
  const words = `$ref type const enum allOf anyOf oneOf not if then else items prefixItems contains
    minContains uniqueItems properties patternProperties additionalProperties propertyNames required
    minimum exclusiveMaximum multipleOf minLength pattern maxProperties dependencies $defs __proto__
    constructor string object integer # #/items #/properties/not ( ^a`
  const keyword = fc.constantFrom(...words.split(/\s+/))
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof({ maxDepth: 4 }, fc.dictionary(keyword, tie('part')), fc.boolean()),
    part: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(
        keyword,
        fc.constantFrom('#', '#/items', '#/properties/not', '(', '^a'),
        fc.anything(),
      ),
      fc.array(tie('part'), { maxLength: 3 }),
      tie('schema'),
    ),
  }))
  const value = fc.oneof(fc.dictionary(keyword, fc.jsonValue()), fc.anything())

  fc.assert(
    fc.property(schema, value, (anySchema, anyValue) => {
      const issues = validateJsonSchema(anySchema as never, anyValue)
      expect(issues.every(({ message }) => message.length > 0)).toBe(true)
    }),
    { numRuns: 1000 },
  )
})

test('a value fits its own `const`, `enum` and types, in any order of keys', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const reversed = Object.fromEntries(Object.entries(value).toReversed())
      expect(messages({ const: value, enum: [0, value], type: 'object' }, reversed)).toEqual([])
    }),
  )
})

function nest(depth: number): unknown {
  let value: unknown = []
  for (let level = 0; level < depth; level++) value = [value]
  return value
}

test('a schema and a value that multiply end as an issue instead of hours', () => {
  const values = Array.from({ length: 15_000 }, () => 1)
  const items = Array.from({ length: 50_000 }, () => 0)
  const long = 'x'.repeat(200_000)
  const numbers = items.map((_, at) => at)
  const many = (part: object) => Array.from({ length: 20_000 }, () => part)
  const cases: [object, unknown][] = [
    [{ properties: { a: { items: { enum: values } } } }, { a: items }],
    [{ properties: { a: { items: { enum: values.map((_, at) => [at]) } } } }, { a: items }],
    [{ allOf: many({ maxLength: 1 }) }, long],
    [{ allOf: many({ uniqueItems: true }) }, items],
    [{ allOf: many({ items: { type: 'string' } }) }, items],
    [{ anyOf: many({ const: long }) }, 'y'],
    [{ items: { required: values.map(String) } }, items.map(() => ({}))],
    [{ items: { $ref: `#/$defs/${long}` }, $defs: { [long]: {} } }, numbers],
    [{ items: { type: [...values.map(String), 'integer'] } }, items],
    [{ items: { type: values.map(String) } }, items],
    [{ items: { minLength: long } }, items.map(String)],
    [{ allOf: many({ properties: {} }) }, Object.fromEntries(items.map((_, at) => [`k${at}`, at]))],
  ]

  const found = cases.map(([schema, value]) => validateJsonSchema(schema as never, value))

  for (const issues of found) {
    expect(issues.length).toBeGreaterThan(0)
    expect(JSON.stringify(issues).length).toBeLessThan(120_000)
  }
})
