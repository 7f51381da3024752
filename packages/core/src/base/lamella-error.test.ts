import { expect, test } from 'vitest'
import { LamellaError } from './lamella-error.ts'

test.each<[string, unknown]>([
  ['no object', 'run_failed'],
  ['null', null],
  ['an error with a code of its own', Object.assign(new Error('no'), { code: 'run_failed' })],
  [
    'an object that throws as it is read',
    {
      get code() {
        throw new Error('no')
      },
    },
  ],
])('%s is no error of Lamella', (_name, error) => {
  expect(LamellaError.is(error)).toBe(false)
})
