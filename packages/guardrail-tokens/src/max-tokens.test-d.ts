import type { ClientMiddlewareInput, MiddlewareInput } from '@lamella/core'
import { expectTypeOf, test } from 'vitest'
import { maxTokens } from './max-tokens.ts'

test('limits fit an agent and a client', () => {
  expectTypeOf(maxTokens()).toExtend<MiddlewareInput>()
  expectTypeOf(maxTokens({ maxOutputTokens: 5 })).toExtend<ClientMiddlewareInput>()
})

test('what follows is one of what is possible', () => {
  // @ts-expect-error an answer is not truncated, it is capped
  maxTokens({ onExceed: { output: 'truncate' } })
})
