// The run that the pictures of the README are of: a shop's assistant with a guardrail that masks, a retry
// of a stream that broke, a tool, a note for the model, and a guardrail that holds text back.
import { setTimeout as delay } from 'node:timers/promises'
import type { Message, MiddlewareInput } from '@lamella/core'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  jsonSchema,
  ProviderError,
  tool,
} from '@lamella/core'
import { recorder } from '@lamella/picture'
import type { RecorderOptions } from '@lamella/picture'
import { callFunction, scriptedClient } from '@lamella/testing'

const email = /[\w.]+@[\w.]+\w/

const session = agentMiddleware('session-log', async (context, callNext) => {
  await delay(2)
  context.run.emit({ type: 'session', data: { customer: 'c-1042', plan: 'pro' } })
  await callNext()
  await delay(2)
})

/** Masks addresses on the way in, and holds words back on the way out until they are complete. */
const mask = chatMiddleware('mask-emails', async (context, callNext) => {
  const clean = (message: Message): Message => {
    const contents = message.contents.map((part) =>
      part.type === 'text' && email.test(part.text)
        ? { ...part, text: part.text.replace(email, '[email]') }
        : part,
    )
    return contents.every((part, index) => part === message.contents[index])
      ? message
      : { ...message, contents }
  }
  context.messages = context.messages.map(clean)
  context.run.emit({
    type: 'guardrail',
    data: { guardrail: 'mask-emails', status: 'modified', stage: 'input' },
  })
  let held = ''
  context.transformUpdates({
    // A retry begins anew.
    start: () => void (held = ''),
    transform(update, controller) {
      const [part] = update.contents
      if (part?.type !== 'text') {
        if (held !== '')
          controller.enqueue({
            role: 'assistant',
            contents: [{ type: 'text', text: held.replace(email, '[email]') }],
          })
        held = ''
        controller.enqueue(update)
        return
      }
      held += part.text
      const end = held.search(/\S*@\S*$|\S*$/)
      if (held.length < 40 || end === 0) return
      controller.enqueue({
        ...update,
        contents: [{ ...part, text: held.slice(0, end).replace(email, '[email]') }],
      })
      held = held.slice(end)
    },
  })
  await callNext()
})

const retry = chatMiddleware('retry', async (context, callNext) => {
  try {
    await callNext()
  } catch {
    context.run.emit({ type: 'retry', data: { attempt: 1, reason: 'overloaded', delayMs: 30 } })
    await delay(30)
    await callNext()
  }
})

const note = chatMiddleware('house-rules', async (context, callNext) => {
  context.instructions = `${context.instructions ?? ''}\nNever promise a delivery date. Answer in two sentences.`
  context.options = { ...context.options, temperature: 0.2 }
  await callNext()
})

const policy = functionMiddleware('tool-policy', async (context, callNext) => {
  await delay(1)
  if (context.function.name === 'refund') {
    context.result = 'Refunds need a person.'
    return
  }
  await callNext()
})

const findOrder = tool({
  name: 'find_order',
  description: 'Finds an order by the customer’s address.',
  parameters: jsonSchema({
    type: 'object',
    properties: { customer: { type: 'string' } },
    required: ['customer'],
  }),
  async execute() {
    await delay(38)
    return { order: 'A-2077', state: 'shipped', carrier: 'Postal', contact: 'depot@example.org' }
  },
})
const refund = tool({ name: 'refund', description: 'Pays an order back.', execute: () => 'paid' })

const usage = (inputTokens: number, outputTokens: number, cachedInputTokens = 0) => ({
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens,
  cachedInputTokens,
})
const words = (text: string): string[] => text.split(/(?<=\s)/)
const answer =
  'Your order A-2077 is on its way with Postal, and it left our depot this morning. If the parcel does not show up, write to depot@example.org and we will look into it together.'

/** Runs it, recorded. */
export async function sampleRun(
  options: RecorderOptions,
  extra: MiddlewareInput = [],
): Promise<void> {
  const record = recorder({
    prices: { 'sample-large': { input: 3, cachedInput: 0.3, output: 15 } },
    ...options,
  })
  const client = scriptedClient(
    [
      {
        updates: [
          callFunction('find_order', { customer: 'ada@example.org' }),
          callFunction('refund', { order: 'A-2077' }),
          { finishReason: 'tool-calls', usage: usage(412, 38, 256) },
        ],
        delayMs: 24,
      },
      {
        updates: words('Your order A-2077 is being'),
        delayMs: 9,
        error: new ProviderError('The engine is overloaded.', {
          kind: 'overloaded',
          provider: 'scripted',
          status: 529,
        }),
      },
      {
        updates: [...words(answer), { finishReason: 'stop', usage: usage(530, 61, 412) }],
        delayMs: 5,
      },
    ],
    { model: 'sample-large' },
  )
  const agent = new Agent({
    name: 'shop-assistant',
    client,
    instructions: 'You help customers of a shop with their orders.',
    tools: [findOrder, refund],
    middleware: record.middleware([session, mask, retry, note, policy, extra]),
  })
  const stream = agent.run(
    'Where is my order? I am ada@example.org, and I want my money back if it is lost.',
    { stream: true },
  )
  for await (const _ of stream);
  await record.flush()
}
