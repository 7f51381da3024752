import { validate } from '@lamella/core/authoring'
import { expect, test } from 'vitest'
import { boundedSchema } from './bounded-schema.ts'
import { cleanText } from '../base/clean-text.ts'

test('a regular expression of a server is shown, and never run', () => {
  const schema = {
    type: 'object',
    properties: { word: { type: 'string', pattern: '^(a+)+$' } },
    patternProperties: { '^(x+)+$': { type: 'number' } },
    additionalProperties: false,
  }
  const { shown, checked } = boundedSchema(schema)

  const result = validate(checked, {
    word: `${'a'.repeat(50)}!`,
    [`${'x'.repeat(50)}!`]: 1,
  })

  expect(result).toHaveProperty('value')
  expect(shown).toEqual(schema)
})

test('names of properties are no keywords', () => {
  const properties = JSON.parse(
    '{"pattern":{"type":"string"},"$ref":{"type":"string"},"$schema":{"type":"string"},"__proto__":{"type":"number"}}',
  ) as Record<string, unknown>
  const { shown, checked } = boundedSchema({ type: 'object', properties, required: ['pattern'] })

  expect(Object.keys(shown['properties'] as object)).toEqual(Object.keys(properties))
  expect(validate(checked, {})).toHaveProperty('issues')
  expect(validate(checked, JSON.parse('{"pattern":"x","__proto__":"no number"}'))).toHaveProperty(
    'issues',
  )
})

test('other documents are not referred to, and dialects are not told', () => {
  const { shown } = boundedSchema({
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'https://evil.example/schema',
    properties: { a: { $ref: 'https://evil.example/other' }, b: { $ref: '#/$defs/b' } },
    $defs: { b: { type: 'string', 'x-mcp-header': 'B' } },
  })

  expect(shown).toEqual({
    type: 'object',
    properties: { a: {}, b: { $ref: '#/$defs/b' } },
    $defs: { b: { type: 'string' } },
  })
})

test('a default and an enum stay as they are, and texts lose what nobody sees', () => {
  const { shown } = boundedSchema({
    properties: {
      a: { enum: ['x\u200b'], default: { pattern: 1 }, description: 'Ha\u202e!\u{e0041}\u0007' },
    },
  })

  expect(shown['properties']).toEqual({
    a: { enum: ['x\u200b'], default: { pattern: 1 }, description: 'Ha!' },
  })
})

test.each([
  ['nests too deep', nested(40)],
  ['has data that nests too deep', { default: nested(40) }],
])('a schema that %s is refused', (_, schema) => {
  expect(() => boundedSchema(schema)).toThrow('its schema has more than 32 levels')
})

test('a text is cut at its limit', () => {
  expect(cleanText('\u200b'.repeat(10) + 'abcdef', 4)).toBe('abc…')
  expect(cleanText('a\nb\tc', 10)).toBe('a\nb\tc')
})

function nested(depth: number): Record<string, unknown> {
  return depth === 0 ? {} : { properties: { inner: nested(depth - 1) } }
}
