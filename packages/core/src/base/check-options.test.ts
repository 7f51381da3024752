import { describe, expect, test } from 'vitest'
import type { OptionRules } from './check-options.ts'
import { checkNames, checkOptions, checkTimeLimit, wrongOption } from './check-options.ts'

interface Options {
  readonly name: string
  readonly ttlMs?: number | undefined
  readonly maxRetries?: number | undefined
  readonly keep?: boolean | { readonly firstUser?: boolean | undefined } | undefined
  readonly store?: { get(key: string): unknown } | undefined
}

const rules: OptionRules<Options> = {
  name: 'string',
  ttlMs: 1,
  maxRetries: 0,
  keep: { firstUser: [true, false] },
  store: 'any',
  'store.get': 'function?',
}

const check = (options: object) => () => checkOptions('cache', { name: 'a', ...options }, rules)

describe('an unknown option', () => {
  test.each([
    ['ttl', '`ttlMs`'],
    ['ttlms', '`ttlMs`'],
    ['retries', '`maxRetries`'],
    ['maxRetrys', '`maxRetries`'],
    ['namee', '`name`'],
    ['state', '`store`'],
    ['store.get', '`store`'],
  ])('throws, and %s is told that %s may be meant', (option, meant) => {
    expect(check({ [option]: 'a secret' })).toThrow(
      new TypeError(`cache: unknown option \`${option}\`; did you mean ${meant}?`),
    )
  })

  test.each(['policy', 'x', '', 'constructor'])(
    'that is like no other throws with the names of all: %o',
    (option) => {
      expect(check({ [option]: 'a secret' })).toThrow(
        new TypeError(
          `cache: unknown option \`${option}\`; the options are \`name\`, \`ttlMs\`, \`maxRetries\`, \`keep\`, \`store\``,
        ),
      )
    },
  )

  test('is told the nearest of the names that are like it', () => {
    expect(() => checkNames('cache', { maxRetry: 1 }, ['maxRetryDelayMs', 'maxRetries'])).toThrow(
      new TypeError('cache: unknown option `maxRetry`; did you mean `maxRetries`?'),
    )
  })

  test('is named before what is wrong with others', () => {
    expect(check({ name: 1, nam: 'a' })).toThrow('`nam`; did you mean')
  })

  test('throws in an object of options too, with where it stands', () => {
    expect(check({ keep: { first: true } })).toThrow(
      new TypeError('cache: unknown option `keep.first`; did you mean `keep.firstUser`?'),
    )
  })

  test('is fine where nothing is given for it', () => {
    expect(check({ ttl: undefined, keep: { first: undefined } })).not.toThrow()
  })

  test('is none in an object that is not one of options', () => {
    class Store {
      readonly client = {}
      get(): undefined {}
    }

    expect(check({ store: new Store() })).not.toThrow()
    expect(check({ store: { get: 1 } })).toThrow('`store.get` must be a function, got 1')
  })
})

test('an object of options may be a boolean, and nothing else', () => {
  expect(check({ keep: true })).not.toThrow()
  expect(check({ keep: 'all' })).toThrow(
    new TypeError('cache: `keep` must be an object, got "all"'),
  )
  expect(check({ keep: 5 })).toThrow(new RangeError('cache: `keep` must be an object, got 5'))
  expect(check({ keep: { firstUser: 'yes' } })).toThrow(
    new TypeError('cache: `keep.firstUser` must be one of true, false, got "yes"'),
  )
})

test.each<[unknown, Error]>([
  [Number.NaN, new RangeError('cache: `ttlMs` must be a time, got NaN')],
  ['1', new TypeError('cache: `ttlMs` must be a time, got "1"')],
  ['', new TypeError('cache: `ttlMs` must be a time, got ""')],
  [undefined, new TypeError('cache: `ttlMs` must be a time, got undefined')],
  [null, new TypeError('cache: `ttlMs` must be a time, got null')],
  [5n, new TypeError('cache: `ttlMs` must be a time, got 5')],
  [Symbol('a'), new TypeError('cache: `ttlMs` must be a time, got Symbol(a)')],
  [() => 1, new TypeError('cache: `ttlMs` must be a time, got a function')],
  [[], new TypeError('cache: `ttlMs` must be a time, got a list')],
  [['a'], new TypeError('cache: `ttlMs` must be a time, got a list')],
  [{ apiKey: 'key', n: 5n }, new TypeError('cache: `ttlMs` must be a time, got an object')],
  [Promise.resolve(1), new TypeError('cache: `ttlMs` must be a time, got a promise')],
])('a wrong value is named as it was given: %o', (value, expected) => {
  expect(wrongOption('cache', 'ttlMs', 'a time', value)).toEqual(expected)
})

test('a string that may be a secret is not repeated', () => {
  const { message } = wrongOption('store', 'connection', 'a pool', 'redis://:pass@host', true)

  expect(message).toBe('store: `connection` must be a pool, got a string')
})

test('a time limit may be any number of milliseconds above 0, also no limit', () => {
  const checked = (ms: unknown, least?: '0 or more') => () =>
    checkTimeLimit('call', 'timeoutMs', ms, least)

  for (const ms of [undefined, 0.5, 2 ** 31, Number.MAX_VALUE, Infinity]) {
    expect(checked(ms)).not.toThrow()
  }
  expect(checked(0, '0 or more')).not.toThrow()
  for (const ms of [0, -1, Number.NaN]) {
    const message = `call: \`timeoutMs\` must be more than 0 milliseconds, got ${ms}`
    expect(checked(ms)).toThrow(new RangeError(message))
  }
  expect(checked('5')).toThrow(TypeError)
})
