import { Agent, explain } from '@lamella/core'
import type { MiddlewareInput } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { expect, it } from 'vitest'
import { retry, timeout } from './index.ts'

const warningsOf = (...middleware: MiddlewareInput[]) =>
  explain(new Agent({ client: scriptedClient([]), middleware }), 'Hello').warnings

it('`explain` has nothing to say about the recommended order, and warns about another', () => {
  const [outer, inner] = [retry(), timeout({ toolMs: 1000, totalMs: 60_000 })]

  expect(warningsOf(outer, inner)).toEqual([])
  expect(warningsOf(inner, outer)).toEqual([
    'chat: place retry before timeout, to react to results and errors of timeout',
    'function: place retry before timeout, to react to results and errors of timeout',
  ])
})
