import { jsonSchema } from './json-schema.ts'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Schema } from './standard-schema.ts'
import { formatIssues, validate } from './validate.ts'

const weather = z.object({ city: z.string(), days: z.number().int().default(1) })

function schemaOf(check: Schema['~standard']['validate']): Schema {
  return { '~standard': { version: 1, vendor: 'acme', validate: check } }
}

describe('validating', () => {
  test('a Standard Schema coerces and fills in, at once', () => {
    expect(validate(weather, { city: 'Paris' })).toEqual({ value: { city: 'Paris', days: 1 } })
  })

  test('a JSON Schema gives the value back as it is', () => {
    const value = { city: 'Paris', extra: null }

    const result = validate(jsonSchema({ type: 'object', required: ['city'] }), value)

    expect(result).toEqual({ value })
    expect((result as { value: unknown }).value).toBe(value)
  })

  test.each([
    ['a Standard Schema', weather],
    ['a JSON Schema', jsonSchema({ required: ['city'] })],
  ])('%s says what is missing, and where', (_name, schema: Schema) => {
    expect(validate(schema, {})).toMatchObject({ issues: [{ path: ['city'] }] })
  })

  test('an asynchronous schema gives a promise', async () => {
    const taken = z.string().refine(async (name) => name !== 'root')

    const result = validate(taken, 'root')

    expect(result).toBeInstanceOf(Promise)
    await expect(result).resolves.toMatchObject({ issues: [{ path: [] }] })
  })

  test('a schema that throws makes an issue of it, without what was received', async () => {
    const throwing = schemaOf((value) => ({ value: JSON.parse(value as string) as unknown }))
    const rejecting = schemaOf(() => Promise.reject(new RangeError('secret')))
    const odd = schemaOf(() => Promise.reject('secret'))
    const zodded = z.string().transform((value) => JSON.parse(value) as unknown)

    expect(validate(throwing, 'secret')).toEqual({
      issues: [{ message: 'cannot be checked: the schema threw SyntaxError' }],
    })
    await expect(validate(rejecting, 1)).resolves.toEqual({
      issues: [{ message: 'cannot be checked: the schema threw RangeError' }],
    })
    await expect(validate(odd, 1)).resolves.toEqual({
      issues: [{ message: 'cannot be checked: the schema threw string' }],
    })
    await expect(validate(zodded, 'secret')).resolves.toHaveProperty('issues')
  })
})

describe('issues in one line', () => {
  test('say where and what', () => {
    const issues = [
      { message: 'is required', path: ['city'] },
      { message: 'must be number', path: ['days', 0, { key: 'high' }, Symbol.iterator] },
      { message: 'must be object' },
      { message: 'is odd', path: [] },
    ]

    expect(formatIssues(issues)).toBe(
      'city: is required; days.0.high.Symbol(Symbol.iterator): must be number; must be object; is odd',
    )
  })

  test('are cut after ten', () => {
    const issues = Array.from({ length: 25 }, (_, key) => ({ message: 'is odd', path: [key] }))

    expect(formatIssues(issues)).toMatch(/^0: is odd; .*; 9: is odd; and 15 more$/)
    expect(formatIssues(issues.slice(0, 10))).toMatch(/; 9: is odd$/)
  })

  test('never tell what was received', () => {
    const schema = {
      properties: {
        card: { type: 'string', pattern: '^[0-9]+$', maxLength: 3, enum: ['1'], not: {} },
        age: { type: 'integer', maximum: 3, anyOf: [false], const: 1 },
      },
    }

    const { issues = [] } = validate(jsonSchema(schema), { card: 'secret', age: 424242424242 }) as {
      issues?: []
    }

    expect(issues.length).toBeGreaterThan(5)
    expect(formatIssues(issues)).not.toMatch(/secret|424242424242/)
  })
})
