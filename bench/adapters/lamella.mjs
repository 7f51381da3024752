// Ours, as a user writes it. The client does what a provider's package does: it reads messages and
// makes responses and updates of core's types.
import {
  chunkText,
  counters,
  decide,
  expectedMiddlewares,
  nextNumber,
  repeat,
  toolDescription,
  toolName,
  toolSchema,
  userText,
} from '../lib/toolkit.mjs'

const otherCore = process.env.LAMELLA_CORE
const {
  Agent,
  BaseChatClient,
  agentMiddleware,
  chatMiddleware,
  chatResponse,
  functionMiddleware,
  // A release from before JSON Schemas were wrapped has no such function.
  jsonSchema = (schema) => schema,
  message,
  tool,
  withMiddleware,
} = await (otherCore === undefined ? import('@lamella/core') : import(otherCore))

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
const messages = [message('user', userText)]

export class FakeClient extends BaseChatClient {
  provider = 'fake'
  #script

  constructor(script) {
    super({ model: 'fake' })
    this.#script = script
  }

  async respond({ messages: prompt }) {
    const last = prompt.at(-1)
    const results =
      last.role === 'tool' ? last.contents.map(({ contents }) => Number(contents[0].text)) : null
    const { text, calls } = decide(results, this.#script)
    if (calls === undefined) {
      return chatResponse({ messages: text, usage, finishReason: 'stop', model: 'fake' })
    }
    const contents = calls.map(({ id, name, args }) => ({
      type: 'function-call',
      callId: id,
      name,
      arguments: JSON.stringify(args),
    }))
    return chatResponse({ messages: contents, usage, finishReason: 'tool-calls', model: 'fake' })
  }

  async *stream() {
    for (let index = 0; index < this.#script.chunks; index++) {
      counters.produced++
      const contents = [{ type: 'text', text: chunkText(index) }]
      yield { contents, role: 'assistant', messageId: 'message' }
    }
  }
}

const nextNumberTool = tool({
  name: toolName,
  description: toolDescription,
  parameters: jsonSchema(toolSchema),
  execute: ({ n }) => nextNumber(n),
})

const defineAgentMiddleware = () =>
  agentMiddleware('pass', async (_context, callNext) => {
    counters.agentMw++
    await callNext()
  })

export const defineChatMiddleware = () =>
  chatMiddleware('pass', async (_context, callNext) => {
    counters.modelMw++
    await callNext()
  })

const defineFunctionMiddleware = () =>
  functionMiddleware('pass', async (_context, callNext) => {
    counters.toolMw++
    await callNext()
  })

export const streamMiddleware = () =>
  chatMiddleware('transform', async (context, callNext) => {
    context.transformUpdates({
      transform(update, controller) {
        counters.streamMw++
        controller.enqueue(update)
      },
    })
    await callNext()
  })

/** Reads a stream to its end and returns the text of its final response. */
export async function readStream(stream, onChunk) {
  for await (const { contents } of stream) {
    for (const content of contents) {
      if (content.type !== 'text') continue
      const waiting = onChunk(content.text)
      if (waiting) await waiting
    }
  }
  const { text } = await stream.finalResponse()
  return text
}

export { Agent, messages, nextNumberTool }

export default {
  modelCall({ k }) {
    const client = withMiddleware(new FakeClient({}), ...repeat(k, defineChatMiddleware))
    return { run: async () => (await client.getResponse(messages)).text, expect: { modelMw: k } }
  },

  agentRun({ k, rounds, parallel }) {
    const agent = new Agent({
      client: new FakeClient({ rounds, parallel }),
      tools: [nextNumberTool],
      functionInvocation: { maxIterations: rounds + 1 },
      middleware: [
        repeat(k, defineAgentMiddleware),
        repeat(k, defineChatMiddleware),
        repeat(k, defineFunctionMiddleware),
      ],
    })
    return {
      run: async () => (await agent.run(messages)).text,
      expect: expectedMiddlewares({ k, rounds, parallel }),
    }
  },

  stream({ chunks, k }) {
    const client = withMiddleware(new FakeClient({ chunks }), ...repeat(k, streamMiddleware))
    return {
      run: (onChunk) => readStream(client.getResponse(messages, { stream: true }), onChunk),
      expect: { streamMw: k * chunks },
    }
  },
}
