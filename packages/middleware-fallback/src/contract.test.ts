import { memoryStore } from '@lamella/core'
import { describeContract, middlewareContract, scriptedClient } from '@lamella/testing'
import { describe, it } from 'vitest'
import { circuitBreaker, fallback, route } from './index.ts'

const other = () => scriptedClient(() => 'From the other one.', { provider: 'other' })

describeContract(
  middlewareContract({
    name: 'fallback',
    create: ({ clock }) => fallback({ clients: [other()], clock }),
    createWithLimit: (ms) => fallback({ clients: [other()], timeoutMs: ms }),
    texts: ['Anything at all.'],
    // Where one client fails it asks the next at once, so there is no wait to hear of an abort.
  }),
  { describe, it },
)

describeContract(
  middlewareContract({
    name: 'fallback that continues cut answers and has time limits',
    create: ({ clock }) =>
      fallback({ clients: [other()], clock, midStream: 'continue', timeoutMs: 60_000 }),
    texts: ['Anything at all.'],
  }),
  { describe, it },
)

describeContract(
  middlewareContract({
    name: 'circuit breaker',
    create: ({ clock }) => circuitBreaker({ clock }),
    createWithLimit: (ms) =>
      circuitBreaker({ windowMs: ms, openMs: ms, store: memoryStore(), storeTimeoutMs: ms }),
  }),
  { describe, it },
)

describeContract(
  middlewareContract({
    name: 'route whose clients all decline',
    create: ({ clock }) => route({ clients: [{ client: other(), when: () => false }], clock }),
    createWithLimit: (ms) => route({ clients: [{ client: other() }], asideMs: ms }),
    texts: ['Anything at all.'],
  }),
  { describe, it },
)
