import { jsonSchema } from '../base/json-schema.ts'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { LamellaError } from '../base/lamella-error.ts'
import { defineState, StateCells } from './state.ts'

const strikes = defineState({ name: 'strikes', initial: () => 0 })
const seen = defineState({ name: 'seen', initial: (): string[] => [], schema: z.array(z.string()) })

function caught(work: () => unknown): LamellaError {
  try {
    work()
  } catch (error) {
    if (LamellaError.is(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('StateCells', () => {
  test('a cell begins with its initial value, made anew for each run', () => {
    const first = new StateCells()
    const second = new StateCells()

    first.get(seen).push('only here')

    expect(second.get(seen)).toEqual([])
    expect(second.get(strikes)).toBe(0)
  })

  test('an update is visible at once and returns the new value', () => {
    const state = new StateCells()

    const returned = state.update(strikes, (n) => n + 1)

    expect(returned).toBe(1)
    expect(state.get(strikes)).toBe(1)
  })

  test('cells with names of object properties are cells like others', () => {
    const state = new StateCells()
    const odd = defineState({ name: '__proto__', initial: () => 1, schema: z.number() })

    state.update(odd, (n) => n + 1)
    const copy = new StateCells()
    copy.restore(JSON.parse(JSON.stringify(state.snapshot())))

    expect(copy.get(odd)).toBe(2)
    expect(({} as Record<string, unknown>)['strikes']).toBeUndefined()
  })

  test('two definitions of one name in one run are an error', () => {
    const state = new StateCells()
    state.get(strikes)
    const other = defineState({ name: 'strikes', initial: () => 'none' })

    const error = caught(() => state.get(other))

    expect(error.code).toBe('state_conflict')
    expect(error.message).toContain('"strikes"')
  })

  test('a value that does not fit its schema is refused by the name of the cell, and the old one stays', () => {
    const state = new StateCells()
    const pin = defineState({
      name: 'pin',
      initial: () => '0000',
      schema: z.string().regex(/^\d{4}$/),
    })

    const error = caught(() => state.update(pin, () => 'hunter2'))

    expect(error.code).toBe('schema_invalid')
    expect(error.message).toContain('"pin"')
    expect(JSON.stringify(error) + error.message).not.toContain('hunter2')
    expect(state.get(pin)).toBe('0000')
  })

  test.each([
    ['a date', new Date(0)],
    ['not a number', Number.NaN],
    ['a function', () => 1],
    ['a map', new Map()],
    ['a hole in a list', Array.from({ length: 1 })],
    ['a big integer', 1n],
  ])('a value that is not JSON is refused where there is a schema: %s', (_, value) => {
    const state = new StateCells()
    const any = defineState<unknown>({ name: 'any', initial: () => null, schema: z.unknown() })

    expect(caught(() => state.update(any, () => ({ value }))).message).toContain(
      '"any" got a value that is not JSON',
    )
  })

  test('a circular value is refused, a value that occurs twice is not', () => {
    const state = new StateCells()
    const any = defineState<unknown>({ name: 'any', initial: () => null, schema: z.unknown() })
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    const shared = { n: 1 }

    state.update(any, () => [shared, shared])

    expect(caught(() => state.update(any, () => circle)).code).toBe('schema_invalid')
    expect(state.get(any)).toEqual([shared, shared])
  })

  test('a cell without a schema holds anything and is in no snapshot', () => {
    const state = new StateCells()
    const cache = defineState({ name: 'cache', initial: () => new Map<string, () => number>() })

    state.get(cache).set('f', () => 1)
    state.update(seen, (list) => [...list, 'a'])

    expect(state.snapshot()).toEqual({ seen: ['a'] })
  })

  test('an initial value that does not fit is refused when it is first asked for', () => {
    const broken = defineState({ name: 'broken', initial: () => -1, schema: z.number().min(0) })

    expect(caught(() => new StateCells().get(broken)).code).toBe('schema_invalid')
  })

  test('an async schema is refused', () => {
    const slow = defineState({
      name: 'slow',
      initial: () => 'x',
      schema: z.string().refine(async () => false),
    })

    expect(caught(() => new StateCells().get(slow)).message).toContain('"slow" has an async schema')
  })

  test('a JSON Schema is as good as any', () => {
    const state = new StateCells()
    const count = defineState<number>({
      name: 'count',
      initial: () => 0,
      schema: jsonSchema({ type: 'integer' }),
    })

    state.update(count, (n) => n + 1)

    expect(state.get(count)).toBe(1)
    expect(caught(() => state.update(count, () => 1.5)).code).toBe('schema_invalid')
  })

  test('a snapshot stays as it is when the run continues', () => {
    const state = new StateCells()
    state.update(seen, () => ['a'])

    const snapshot = state.snapshot()
    state.get(seen).push('b')

    expect(snapshot).toEqual({ seen: ['a'] })
  })

  test('a value that was changed in place to what is no JSON is in no snapshot', () => {
    const any = defineState<{ work?: unknown }>({
      name: 'any',
      initial: () => ({}),
      schema: z.any(),
    })
    const state = new StateCells()

    state.get(any).work = () => 1

    expect(caught(() => state.snapshot()).message).toContain('"any" got a value that is not JSON')
  })

  test('any JSON survives a checkpoint', () => {
    const any = defineState<unknown>({ name: 'any', initial: () => null, schema: z.unknown() })

    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const state = new StateCells()
        const plain: unknown = JSON.parse(JSON.stringify(value))
        state.update(any, () => plain)
        const resumed = new StateCells()
        resumed.restore(JSON.parse(JSON.stringify(state.snapshot())))
        expect(resumed.get(any)).toEqual(plain)
      }),
    )
  })

  test('what was restored and not asked for is in the next snapshot too', () => {
    const state = new StateCells()

    state.restore({ seen: ['a'], elsewhere: 1 })
    state.update(seen, (list) => [...list, 'b'])

    expect(state.snapshot()).toEqual({ seen: ['a', 'b'], elsewhere: 1 })
  })

  test('a restored value that does not fit is refused by the name of its cell', () => {
    const state = new StateCells()

    state.restore({ seen: [1] })

    expect(caught(() => state.get(seen)).message).toContain('"seen"')
  })

  test('a restored value of a cell that has no schema is left alone', () => {
    const state = new StateCells()

    state.restore({ strikes: 99 })

    expect(state.get(strikes)).toBe(0)
  })
})

describe('defineState', () => {
  test('wrong options throw, naming the option', () => {
    expect(() => defineState({ name: '', initial: () => 0 })).toThrow('`name`')
    expect(() => defineState({ name: 'n', initial: 0 as never })).toThrow('`initial` of "n"')
  })
})
