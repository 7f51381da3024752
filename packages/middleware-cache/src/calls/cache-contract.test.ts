import { memoryStore } from '@lamella/core'
import { describeContract, middlewareContract } from '@lamella/testing'
import { describe, it } from 'vitest'
import { cache } from './cache.ts'
import { toolCache } from './tool-cache.ts'

const shared = (ms: number) => ({
  store: memoryStore(),
  ttlMs: ms,
  storeTimeoutMs: ms,
  singleFlight: { leaseMs: ms, waitMs: ms },
})

describeContract(
  middlewareContract({
    name: 'cache',
    create: ({ clock }) => cache({ clock }),
    createWithLimit: (ms) =>
      cache({ ...shared(ms), staleIfErrorMs: ms, staleWhileRevalidateMs: ms }),
  }),
  { describe, it },
)

describeContract(
  middlewareContract({
    name: 'tool cache',
    create: ({ clock }) => toolCache({ clock, tools: { test_tool: true } }),
    createWithLimit: (ms) => toolCache({ ...shared(ms), tools: { test_tool: true } }),
  }),
  { describe, it },
)
