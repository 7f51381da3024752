import { Agent, explain } from '@lamella/core'
import type { MiddlewareInput } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { expect, it } from 'vitest'
import { circuitBreaker, fallback } from './index.ts'

const warningsOf = (...middleware: MiddlewareInput[]) =>
  explain(new Agent({ client: scriptedClient([]), middleware }), 'Hello').warnings

it('`explain` has nothing to say about the recommended order, and warns about another', () => {
  const middlewares = [
    fallback({ clients: [scriptedClient([], { name: 'second' })] }),
    circuitBreaker(),
  ]

  expect(warningsOf(...middlewares)).toEqual([])
  expect(warningsOf(...middlewares.toReversed())).toEqual([
    'chat: place fallback before circuit-breaker, to react to results and errors of circuit-breaker',
  ])
})
