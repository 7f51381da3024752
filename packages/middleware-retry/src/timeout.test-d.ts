import type { ClientMiddlewareInput, MiddlewareInput } from '@lamella/core'
import { expectTypeOf, it } from 'vitest'
import { retry, timeout } from './index.ts'

it('timeout may belong to a client, unless it is about whole runs', () => {
  expectTypeOf(timeout()).toExtend<ClientMiddlewareInput>()
  expectTypeOf(timeout({ idleMs: 1000, toolMs: false })).toExtend<ClientMiddlewareInput>()
  expectTypeOf(timeout({ totalMs: 1000 })).not.toExtend<ClientMiddlewareInput>()
  expectTypeOf(timeout({ totalMs: 1000 })).toExtend<MiddlewareInput>()
})

it('retry may belong to a client', () => {
  expectTypeOf(retry()).toExtend<ClientMiddlewareInput>()
})
