import { memoryStore } from '@lamella/core'
import { describeContract, middlewareContract } from '@lamella/testing'
import { describe, it } from 'vitest'
import { budget } from './index.ts'

const limits = { modelCalls: 100, toolCalls: 100, totalTokens: 1e6, wallMs: 1e6, costUsd: 100 }
const common = { prices: () => 0.01, note: true, thresholds: [0.001] }

describeContract(
  middlewareContract({
    name: 'a budget of each run',
    create: ({ clock }) => budget({ limits, clock, ...common }),
  }),
  { describe, it },
)
describeContract(
  middlewareContract({
    name: 'a budget of all runs',
    create: ({ clock }) => budget({ limits, clock, scope: () => 'all', window: 'day', ...common }),
    createWithLimit: (ms) =>
      budget({
        limits: { ...limits, wallMs: ms },
        scope: () => 'all',
        store: memoryStore(),
        storeTimeoutMs: ms,
        ...common,
      }),
  }),
  { describe, it },
)
