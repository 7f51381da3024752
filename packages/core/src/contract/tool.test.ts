import { jsonSchema } from '../base/json-schema.ts'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Schema } from '../base/standard-schema.ts'
import { ToolError } from './tool-error.ts'
import { hostedTool, tool } from './tool.ts'

const options = { name: 'get_weather', description: 'The weather in a city.' }

/** A schema of a vendor, with or without a description of itself. */
function vendorSchema(
  input?: (options: { readonly target: string }) => Record<string, unknown>,
): Schema {
  const described = input && { input, output: input }
  return {
    '~standard': {
      version: 1,
      vendor: 'acme',
      validate: (value) => ({ value }),
      jsonSchema: described,
    },
  }
}

describe('a tool', () => {
  test('has a default for all that is left out, and cannot be changed', () => {
    const made = tool({ ...options, execute: () => 'sunny' })

    expect(made).toMatchObject({
      ...options,
      type: 'function',
      approval: 'never',
      timeoutMs: undefined,
      returnDirect: false,
      idempotent: false,
      readOnly: false,
      exclusive: false,
      publicProgress: false,
    })
    expect(Object.isFrozen(made)).toBe(true)
  })

  test('keeps what was set', () => {
    const given = {
      approval: 'always',
      timeoutMs: 0.5,
      returnDirect: true,
      idempotent: true,
      readOnly: true,
      exclusive: true,
      publicProgress: true,
      metadata: { team: 'sky' },
    } as const

    expect(tool({ ...options, ...given })).toMatchObject(given)
  })

  test('without `execute` is declared only', () => {
    expect(tool(options).execute).toBeUndefined()
  })

  test('without parameters takes an object', () => {
    expect(tool(options).jsonSchema).toEqual({ type: 'object', properties: {} })
  })

  test('shows a JSON Schema as it is, keywords of others included', () => {
    const parameters = { type: 'object', properties: {}, 'x-order': ['city'] } as const

    const made = tool({ ...options, parameters: jsonSchema(parameters) })

    expect(made.jsonSchema).toBe(parameters)
  })

  test('shows a zod schema as what it takes, without naming the dialect', () => {
    const parameters = z.object({
      city: z.string().describe('In English'),
      unit: z.enum(['C', 'F']).default('C'),
    })

    const made = tool({ ...options, parameters })

    expect(made.parameters).toBe(parameters)
    expect(made.jsonSchema).toEqual({
      type: 'object',
      properties: {
        city: { type: 'string', description: 'In English' },
        unit: { type: 'string', enum: ['C', 'F'], default: 'C' },
      },
      required: ['city'],
    })
  })

  test('asks for draft 2020-12 and settles for draft 7', () => {
    const asked: string[] = []
    const parameters = vendorSchema(({ target }) => {
      asked.push(target)
      if (target !== 'draft-07') throw new Error('unknown target')
      return { type: 'object' }
    })

    const made = tool({ ...options, parameters })

    expect(asked).toEqual(['draft-2020-12', 'draft-07'])
    expect(made.jsonSchema).toEqual({ type: 'object' })
  })

  test('takes a schema that is a function, as arktype makes them', () => {
    const { '~standard': standard } = vendorSchema(() => ({ type: 'object' }))
    const parameters = Object.assign(() => undefined, { '~standard': standard })

    expect(tool({ ...options, parameters }).jsonSchema).toEqual({ type: 'object' })
  })

  test('needs `jsonSchema` beside a schema that cannot describe itself', () => {
    const mute = vendorSchema()
    const dated = z.object({ day: z.date() })

    expect(() => tool({ ...options, parameters: mute })).toThrow(
      /^tool: `parameters` of "get_weather" .*acme does not describe it.*`jsonSchema`/,
    )
    expect(() => tool({ ...options, parameters: dated })).toThrow(/Date cannot be .*`jsonSchema`/)
    const described = { type: 'object', properties: { day: { type: 'string' } } }
    const made = tool({ ...options, parameters: dated, jsonSchema: described })
    expect(made.jsonSchema).toBe(described)
  })
})

describe('a tool that would not work is refused when it is made', () => {
  const typeErrors: readonly (readonly [object, string])[] = [
    [
      { name: undefined },
      'tool: `name` must be 1 to 64 letters, digits, `_` or `-`, got undefined',
    ],
    [{ description: undefined }, 'tool: `description` must be a string, got undefined'],
    [
      { parameters: { type: 'object' } },
      'tool: `parameters` of "get_weather" must be a Standard Schema, as of zod, or `jsonSchema({ … })`, got an object',
    ],
    [{ parameters: 5 }, 'or `jsonSchema({ … })`, got 5'],
    [{ jsonSchema: { type: 'object' } }, 'tool: `jsonSchema` must have `parameters` beside it'],
    [{ execute: {} }, 'tool: `execute` must be a function, got an object'],
    [{ approval: true }, "tool: `approval` must be 'never', 'always' or a function, got true"],
    [{ outputSchema: {} }, '`outputSchema`; say in `description` what the tool returns'],
    [{ timeoutMs: '5' }, 'tool: `timeoutMs` must be more than 0 milliseconds, got "5"'],
  ]
  const rangeErrors: readonly (readonly [object, string])[] = [
    [{ name: '' }, '`name` must be 1 to 64 letters, digits, `_` or `-`, got ""'],
    [{ name: 'get weather' }, 'got "get weather"'],
    [{ name: 'wetter_für' }, 'got "wetter_für"'],
    [{ name: 'x\n' }, '`name`'],
    [{ name: 'x'.repeat(65) }, `got "${'x'.repeat(65)}"`],
    [{ approval: 'sometimes' }, 'got "sometimes"'],
    [{ timeoutMs: 0 }, 'got 0'],
    [{ timeoutMs: -1 }, 'got -1'],
    [{ timeoutMs: Number.NaN }, 'got NaN'],
    [
      { parameters: jsonSchema({ type: 'string' }) },
      '`parameters` of "get_weather" must have `type: \'object\'`',
    ],
  ]

  test.each(typeErrors)('%o: a value of another type', (wrong, message) => {
    expect(() => tool({ ...options, ...wrong })).toThrow(
      expect.objectContaining({ name: 'TypeError', message: expect.stringContaining(message) }),
    )
  })

  test.each(rangeErrors)('%o: a value out of bounds', (wrong, message) => {
    expect(() => tool({ ...options, ...wrong })).toThrow(
      expect.objectContaining({ name: 'RangeError', message: expect.stringContaining(message) }),
    )
  })

  test('a schema that is not of an object is named by where it came from', () => {
    const either = z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])

    expect(() => tool({ ...options, parameters: either })).toThrow(/`parameters` .* got undefined/)
    expect(() => tool({ ...options, parameters: either, jsonSchema: { type: 'array' } })).toThrow(
      /`jsonSchema` .* "array"/,
    )
  })
})

describe('a hosted tool', () => {
  test('is passed through in the words of the provider', () => {
    const definition = { type: 'web_search', user_location: { country: 'IR' } }

    const made = hostedTool('web_search', definition)

    expect(made).toEqual({ type: 'hosted', name: 'web_search', definition })
    expect(made.definition).toBe(definition)
    expect(Object.isFrozen(made)).toBe(true)
  })

  test('needs a name and a definition', () => {
    expect(() => hostedTool('', {})).toThrow(
      'hostedTool: `name` must be a string that is not empty',
    )
    expect(() => hostedTool('search', 'web_search' as never)).toThrow(
      'hostedTool: `definition` must be an object, got "web_search"',
    )
  })
})

test('an error of a tool is a failure of it, unless it says otherwise', () => {
  expect(new ToolError('no luck').reason).toBe('tool_failed')
  expect(new ToolError('no time', { reason: 'timeout' }).reason).toBe('timeout')
})
