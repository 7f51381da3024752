import { describeContract, middlewareContract } from '@lamella/testing'
import { describe, it } from 'vitest'
import { retry, timeout } from './index.ts'

describeContract(
  middlewareContract({
    name: 'retry',
    create: (means) => retry(means),
    createWithLimit: (ms) => retry({ maxRetryAfterMs: ms, maxElapsedMs: ms }),
    texts: ['Anything at all.'],
  }),
  { describe, it },
)

describeContract(
  middlewareContract({
    name: 'retry that judges replies, restarts streams and repeats all tool calls',
    create: (means) =>
      retry({
        ...means,
        stream: 'restart',
        rejectReply: ({ response }) => response.text === 'No.',
        tools: { idempotencyKey: ({ callId }) => callId },
      }),
  }),
  { describe, it },
)

describeContract(
  middlewareContract({
    name: 'retry that holds replies back',
    create: (means) => retry({ ...means, rejectReply: () => undefined }),
    texts: ['Anything at all.'],
  }),
  { describe, it },
)

describeContract(
  middlewareContract({
    name: 'timeout of all phases',
    create: ({ clock }) =>
      timeout({ clock, totalMs: 3_600_000, toolMs: 60_000, tools: { test_tool: 90_000 } }),
    createWithLimit: (ms) =>
      timeout({ firstUpdateMs: ms, idleMs: ms, attemptMs: ms, totalMs: ms, toolMs: ms }),
    texts: ['Anything at all.'],
  }),
  { describe, it },
)

describeContract(
  middlewareContract({
    name: 'timeout in shadow',
    create: ({ clock }) => timeout({ clock, mode: 'shadow', totalMs: 5000, toolMs: 5000 }),
  }),
  { describe, it },
)
