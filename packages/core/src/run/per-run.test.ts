import { expect, test } from 'vitest'
import type { RunContext } from '../contract/run.ts'
import { perRun } from './per-run.ts'
import { Run, drain } from './run.ts'

test('each run has a value of its own, the same each time', () => {
  const noted = perRun((): string[] => [])
  const other = perRun((): string[] => [])
  const [first, second] = [new Run({ sink: drain }), new Run({ sink: drain })]

  noted(first).push('a')

  expect(noted(first)).toEqual(['a'])
  expect(noted(second)).toEqual([])
  expect(other(first)).toEqual([])
})

test('what is no run is refused', () => {
  const noted = perRun((): string[] => [])

  expect(() => noted({} as RunContext)).toThrow('expected the `run` of a context')
})
