import type { AgentMiddleware, ChatMiddleware, FunctionMiddleware } from '@lamella/core'
import { Agent, withMiddleware } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { expectTypeOf, test } from 'vitest'
import { pii } from './index.ts'

test('without a vault it may stand around a client alone', () => {
  expectTypeOf(pii()).toEqualTypeOf<readonly (ChatMiddleware | FunctionMiddleware)[]>()
  withMiddleware(scriptedClient([]), pii({ strategy: 'mask' }))
})

test('a vault needs an agent', () => {
  expectTypeOf(pii({ vault: true })).toEqualTypeOf<
    readonly (AgentMiddleware | ChatMiddleware | FunctionMiddleware)[]
  >()
  const middleware = pii({ vault: { ttlMs: 1 } })
  expectTypeOf(Agent).toBeConstructibleWith({ client: scriptedClient([]), middleware })
  // @ts-expect-error the answer is restored around the whole run
  withMiddleware(scriptedClient([]), pii({ vault: true }))
})
