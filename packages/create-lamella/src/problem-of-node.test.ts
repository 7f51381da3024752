import { expect, test } from 'vitest'
import { problemOfNode } from './create-package.ts'

test.each([
  ['20.20.2', true],
  ['22.17.9', true],
  ['22.18.0', false],
  ['22.19.1', false],
  ['24.0.0', false],
])('Node %s is told that it is too old: %s', (version, isTold) => {
  expect(problemOfNode('>=22.18.0', version)?.includes(version) ?? false).toBe(isTold)
})
