import type {
  AgentContext,
  AgentMiddleware,
  ChatContext,
  ChatMiddleware,
  FunctionInvocationContext,
  FunctionMiddleware,
} from '@lamella/core'
import { expectTypeOf, test } from 'vitest'
import { rateLimit } from './index.ts'

const limits = [{ unit: 'requests', limit: 1, windowMs: 1000 } as const]

test('the level decides what the middleware is and which context its functions get', () => {
  expectTypeOf(rateLimit({ limits })).toEqualTypeOf<ChatMiddleware>()
  expectTypeOf(rateLimit({ limits, level: 'agent' })).toEqualTypeOf<AgentMiddleware>()
  expectTypeOf(rateLimit({ limits, level: 'function' })).toEqualTypeOf<FunctionMiddleware>()

  rateLimit({
    limits,
    key: (context) => {
      expectTypeOf(context).toEqualTypeOf<ChatContext>()
      return ''
    },
  })
  rateLimit({
    level: 'agent',
    limits: [
      {
        ...limits[0]!,
        key: (context) => {
          expectTypeOf(context).toEqualTypeOf<AgentContext>()
          return ''
        },
      },
    ],
  })
  rateLimit({
    level: 'function',
    limits,
    when: (context) => {
      expectTypeOf(context).toEqualTypeOf<FunctionInvocationContext>()
      return true
    },
  })
})

test('what does not exist does not compile', () => {
  // @ts-expect-error there is no such unit
  rateLimit({ limits: [{ unit: 'words', limit: 1, windowMs: 1 }] })
  // @ts-expect-error there is no such level
  rateLimit({ limits, level: 'run' })
})
