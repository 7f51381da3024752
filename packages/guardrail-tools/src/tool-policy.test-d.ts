import type { ClientMiddlewareInput, MiddlewareInput } from '@lamella/core'
import { expectTypeOf, test } from 'vitest'
import { range } from './rules/argument-rule.ts'
import { toolPolicy } from './tool-policy.ts'

test('a policy fits an agent, and no client', () => {
  expectTypeOf(toolPolicy()).toExtend<MiddlewareInput>()
  expectTypeOf(toolPolicy()).not.toExtend<ClientMiddlewareInput>()
})

test('rules are rules', () => {
  toolPolicy({ rules: { pay: { amount: [range({ max: 5 }), { check: () => undefined }] } } })
  // @ts-expect-error a pattern alone is no rule
  toolPolicy({ rules: { pay: { to: /a/ } } })
})
