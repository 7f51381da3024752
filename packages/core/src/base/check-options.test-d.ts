import { expectTypeOf, test } from 'vitest'
import type { OptionRules } from './check-options.ts'
import { checkOptions } from './check-options.ts'

interface Options {
  readonly ttlMs?: number | undefined
  readonly keep?: boolean | { readonly first?: boolean | undefined } | undefined
  readonly roots?: readonly string[] | undefined
}

declare const options: Options

test('an option without a rule is an error', () => {
  checkOptions('a', options, { ttlMs: 1, keep: { first: 'any' }, roots: 'any' })
  // @ts-expect-error
  checkOptions('a', options, { ttlMs: 1, roots: 'any' })
  // @ts-expect-error
  checkOptions('a', options, { ttlMs: 1, keep: {}, roots: 'any' })
})

test('a rule without an option is an error', () => {
  // @ts-expect-error
  checkOptions('a', options, { ttlMs: 1, keep: 'any', roots: 'any', root: 'any' })
  // @ts-expect-error
  checkOptions('a', options, { ttlMs: 1, keep: { last: 'any' }, roots: 'any' })
})

test('only an object of options has rules of its own', () => {
  // @ts-expect-error
  checkOptions('a', options, { ttlMs: {}, keep: 'any', roots: 'any' })
  expectTypeOf<{ ttlMs: 1; keep: 'any'; roots: 'any' }>().toExtend<OptionRules<Options>>()
})
