import type { ClientMiddlewareInput, MiddlewareInput } from '@lamella/core'
import { expectTypeOf, test } from 'vitest'
import { contentFilter } from './content-filter.ts'

test('a filter at chat level fits a client, any other only an agent', () => {
  expectTypeOf(contentFilter({ level: 'chat' })).toExtend<ClientMiddlewareInput>()
  expectTypeOf(contentFilter()).toExtend<MiddlewareInput>()
  expectTypeOf(contentFilter()).not.toExtend<ClientMiddlewareInput>()
})

test('actions are known ones', () => {
  // @ts-expect-error there is no such action
  contentFilter({ actions: { hate: 'warn' } })
})
