import { expectTypeOf, test } from 'vitest'
import type { MiddlewareInput, ClientMiddlewareInput } from '@lamella/core'
import { guardrail } from './guardrail.ts'

const check = () => ({ action: 'allow' }) as const

test('a guardrail at chat level fits a client, any other only an agent', () => {
  const chat = guardrail({ name: 'g', level: 'chat', applyTo: ['input'], check })
  const agent = guardrail({ name: 'g', applyTo: ['input'], check })

  expectTypeOf(chat).toExtend<ClientMiddlewareInput>()
  expectTypeOf(agent).toExtend<MiddlewareInput>()
  expectTypeOf(agent).not.toExtend<ClientMiddlewareInput>()
})

test('a verdict needs a known action', () => {
  // @ts-expect-error there is no such action
  guardrail({ name: 'g', applyTo: ['input'], check: () => ({ action: 'warn' }) })
})
