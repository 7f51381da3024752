import type { ChatMiddleware, MiddlewareInput, Tool } from '@lamella/core'
import { chatMiddleware, jsonSchema, tool } from '@lamella/core'
import { guardrail } from '@lamella/guardrail'

/** A tool that needs an approval. */
export const refund: Tool = tool({
  name: 'refund',
  description: 'Pays an order back.',
  parameters: jsonSchema({
    type: 'object',
    properties: { order: { type: 'string' }, euros: { type: 'number' } },
    required: ['order', 'euros'],
  }),
  approval: 'always',
  execute: ({ order, euros }) => `${String(euros)} euros for order ${String(order)} were paid back`,
})

/** A guardrail that blocks questions with passwords. */
export const noPasswords: MiddlewareInput = guardrail({
  name: 'no-passwords',
  applyTo: ['input'],
  check: ({ text }) =>
    /password/i.test(text) ? { action: 'block', category: 'secrets' } : { action: 'allow' },
})

/** A middleware whose retries restart the stream. */
export const retryOnce: ChatMiddleware = chatMiddleware('retry-once', (_, callNext) =>
  callNext().catch(() => callNext()),
)
