import { expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import type { PartialValue } from './index.ts'
import { schemaValidator } from './index.ts'

const schema = z.object({ city: z.string(), days: z.array(z.number()) })

test('rules and fallbacks have the type of the schema', () => {
  schemaValidator({
    schema,
    refine(value) {
      expectTypeOf(value).toEqualTypeOf<{ city: string; days: number[] }>()
      return undefined
    },
    onFailure: { fallback: { city: 'Rome', days: [] } },
  })

  // @ts-expect-error -- the fallback must fit
  schemaValidator({ schema, onFailure: { fallback: { city: 1 } } })
})

test('a partial value may lack anything', () => {
  expectTypeOf<PartialValue<{ city: string; days: number[] }>>().toEqualTypeOf<{
    readonly city?: string | undefined
    readonly days?: readonly number[] | undefined
  }>()
})
