import { Agent, memoryStore } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { Keyv } from 'keyv'
import { expectTypeOf, test } from 'vitest'
import type { CacheControl, CacheMode } from './cache-options.ts'
import { cache } from './cache.ts'
import { toolCache } from './tool-cache.ts'

test('a Keyv and a KeyValueStore are stores, and nothing else', () => {
  cache({ store: new Keyv() })
  toolCache({ store: memoryStore() })
  // @ts-expect-error -- a Map answers without a promise
  cache({ store: new Map<string, unknown>() })
})

test('a call may say how it uses the cache', () => {
  const agent = new Agent({ client: scriptedClient([]), middleware: [cache(), toolCache()] })
  expectTypeOf<NonNullable<Parameters<typeof agent.run>[1]>['options']>()
    .exclude<undefined>()
    .toHaveProperty('cache')
    .toEqualTypeOf<CacheMode | CacheControl | undefined>()
  // @ts-expect-error -- no such mode
  void (() => agent.run('Hello', { options: { cache: 'never' } }))
})

test('what is allowed has names', () => {
  cache({ allow: ['sampled', 'changed'] })
  // @ts-expect-error -- no such name
  void (() => cache({ allow: ['everything'] }))
})
