// A recorded run with a bug becomes a test without a model: the client repeats the recorded answers.
import assert from 'node:assert/strict'
import type { ChatClient, ChatMiddleware, MessageInput } from '@lamella/core'
import { Agent, chatMiddleware, tool } from '@lamella/core'
import { recorder, replayOf, whereTheyPart } from '@lamella/picture'
import { callFunction, scriptedClient } from '@lamella/testing'

const price = tool({
  name: 'price',
  description: 'The price of an article.',
  execute: () => ({ article: 'lamp', price: 1999, unit: 'cents' }),
})

/** Keeps only the last messages. It separates a call from its result: that is the bug. */
const careless = chatMiddleware('shorten', async (context, callNext) => {
  context.messages = context.messages.slice(-1)
  await callNext()
})

/** The same, except that it keeps the results of calls. */
const careful = chatMiddleware('shorten', async (context, callNext) => {
  const isResult = context.messages.at(-1)?.role === 'tool'
  context.messages = context.messages.slice(isResult ? -3 : -1)
  await callNext()
})

/** Runs the shop with one of the two, and records the full content that a replay needs. */
async function record(client: ChatClient, input: MessageInput, shorten: ChatMiddleware) {
  let lines = ''
  const sink = { write: (more: string) => void (lines += more) }
  const recording = recorder({ sink, capture: 'full' })
  const agent = new Agent({ client, tools: [price], middleware: recording.middleware(shorten) })
  await agent.run(input)
  await recording.flush()
  return lines
}

// In production, with a model:
const model = scriptedClient([callFunction('price', { article: 'lamp' }), 'I do not know.'])
const wrong = await record(model, 'What is the lamp?', careless)

// In a test, with the recorded answers. `lamella-picture replay run.jsonl` writes this as a module.
const { input, steps } = replayOf(wrong)
const client = scriptedClient(steps)
const right = await record(client, input, careful)

const parting = whereTheyPart(wrong, right)
console.log(`The runs part at ${parting?.call}, in its ${parting?.part}:\n${parting?.difference}`)

client.assertDone()
assert.equal(parting?.call, 'Model call 2')
assert.match(parting.difference, /\+ user: What is the lamp\?/)
