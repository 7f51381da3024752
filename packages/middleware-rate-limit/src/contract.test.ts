import { memoryStore } from '@lamella/core'
import { describeContract, middlewareContract } from '@lamella/testing'
import { describe, it } from 'vitest'
import type { RateLimit } from './index.ts'
import { rateLimit } from './index.ts'

const busy: readonly RateLimit[] = [
  { unit: 'requests', limit: 1, windowMs: 1000 },
  { unit: 'concurrency', limit: 1 },
]
const idle: readonly RateLimit[] = [
  { unit: 'requests', limit: 100, windowMs: 1000 },
  { unit: 'concurrency', limit: 100 },
]
const suites = [
  middlewareContract({
    name: 'model calls with room',
    create: ({ clock }) =>
      rateLimit({
        limits: [...idle, { unit: 'totalTokens', limit: 10_000, windowMs: 1000 }],
        clock,
      }),
  }),
  middlewareContract({
    name: 'model calls that wait',
    create: ({ clock }) => rateLimit({ limits: busy, clock }),
    createWithLimit: (ms) =>
      rateLimit({
        limits: [{ unit: 'requests', limit: 100, windowMs: ms }],
        maxWaitMs: ms,
        store: memoryStore(),
        storeTimeoutMs: ms,
      }),
  }),
  middlewareContract({
    name: 'runs that wait',
    create: ({ clock }) => rateLimit({ limits: busy, level: 'agent', clock }),
  }),
  middlewareContract({
    name: 'tool calls that wait',
    create: ({ clock }) => rateLimit({ limits: busy, level: 'function', clock }),
  }),
]

for (const suite of suites) describeContract(suite, { describe, it })
