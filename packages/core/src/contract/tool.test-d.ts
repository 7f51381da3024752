import { jsonSchema } from '../base/json-schema.ts'
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { FunctionInvocationContext, Tool } from './run.ts'
import type { Schema } from '../base/standard-schema.ts'
import { tool } from './tool.ts'

const options = { name: 'get_weather', description: 'The weather in a city.' }

test('arguments have the output type of a zod schema', () => {
  const made = tool({
    ...options,
    parameters: z.object({ city: z.string(), days: z.number().default(1) }),
    execute(args, context) {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>()
      expectTypeOf(context).toEqualTypeOf<FunctionInvocationContext>()
      return args.city
    },
  })

  expectTypeOf(made).toEqualTypeOf<Tool>()
})

test('arguments have the output type of any Standard Schema', () => {
  const parameters = {} as Schema<{ day: Date }>

  tool({
    ...options,
    parameters,
    execute: (args) => {
      expectTypeOf(args).toEqualTypeOf<{ day: Date }>()
    },
  })
})

test('arguments of a JSON Schema, or of none, are a record of unknown values', () => {
  tool({
    ...options,
    parameters: jsonSchema({ type: 'object', properties: { city: { type: 'string' } } }),
    execute: (args) => {
      expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>()
    },
  })
  tool({
    ...options,
    execute: (args) => {
      expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>()
    },
  })
})

test('`execute` may be an async generator, and need not take what it is given', () => {
  tool({
    ...options,
    async *execute() {
      yield 'half way'
      return 'done'
    },
  })
})

test('what the schema does not give cannot be read', () => {
  tool({
    ...options,
    parameters: z.object({ city: z.string() }),
    // @ts-expect-error: there is no `town`
    execute: ({ town }) => town,
  })
})

test('an unknown option is an error', () => {
  // @ts-expect-error: it is called `timeoutMs`
  tool({ ...options, timeout: 5 })
})
