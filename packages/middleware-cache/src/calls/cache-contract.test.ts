import { describeContract, middlewareContract } from '@lamella/testing'
import { describe, it } from 'vitest'
import { cache } from './cache.ts'
import { toolCache } from './tool-cache.ts'

describeContract(middlewareContract({ name: 'cache', create: ({ clock }) => cache({ clock }) }), {
  describe,
  it,
})

describeContract(
  middlewareContract({
    name: 'tool cache',
    create: ({ clock }) => toolCache({ clock, tools: { test_tool: true } }),
  }),
  { describe, it },
)
