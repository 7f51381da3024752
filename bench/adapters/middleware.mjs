// The built-in middlewares, from their sources: `middleware` names one of ../middleware.mjs, none is the bare pipeline.
import { createHash } from 'node:crypto'
import { chatResponse, jsonSchema, withMiddleware } from '@lamella/core'
import { middlewares } from '../middleware.mjs'
import { chunkText, expectedText, repeat } from '../lib/toolkit.mjs'
import { Agent, FakeClient, messages, nextNumberTool, readStream } from './lamella.mjs'

class EndingClient extends FakeClient {
  async *stream(request) {
    yield* super.stream(request)
    yield { contents: [], finishReason: 'stop', usage: { totalTokens: 15 } }
  }
}

/** Judges that all is well, at once. */
class ContentJudge extends FakeClient {
  async respond({ instructions = '' }) {
    const [ticket] = instructions.match(/verdict_\w+/) ?? []
    return chatResponse(JSON.stringify({ ticket, scores: { promises: 0 } }))
  }
}

/** `middleware` is a name of ../middleware.mjs; undefined is the bare pipeline. */
async function agentOf(middleware, script, tools = []) {
  const client = new EndingClient(script)
  if (middleware === undefined) return new Agent({ client, tools })
  const [name, make] = middlewares[middleware]
  const exported = await import(`../../packages/${name}/src/index.ts`)
  const others = {
    makeClient: () => new EndingClient(script),
    judge: new ContentJudge({}),
    schema: jsonSchema({ type: 'object' }),
  }
  return new Agent({ client, tools, middleware: [make(exported, others)] })
}

const conversation = repeat(10, (_, index) => ({
  id: `message_${index}`,
  role: index % 2 === 0 ? 'user' : 'assistant',
  contents: [{ type: 'text', text: `${index} The quick brown fox jumps over it. `.repeat(12) }],
}))
const request = {
  messages: conversation,
  instructions: 'You are a helpful assistant. '.repeat(10),
  options: { model: 'fake', temperature: 0 },
}

export default {
  async agentRun({ middleware, rounds, parallel = 1 }) {
    const agent = await agentOf(
      middleware,
      { rounds, parallel },
      rounds > 0 ? [nextNumberTool] : [],
    )
    return { run: async () => (await agent.run(messages)).text }
  },

  async stream({ middleware, chunks }) {
    const agent = await agentOf(middleware, { chunks })
    return {
      run: async (onChunk) => {
        const text = await readStream(agent.run(messages, { stream: true }), () => {})
        // A guardrail may hold text back and release it in other pieces.
        for (let index = 0; index < chunks; index++) onChunk(chunkText(index))
        return text
      },
    }
  },

  /** The same call of ten messages, answered by a cache, or only written and hashed. */
  async hit({ of }) {
    const expect = { model: 0 }
    if (of === 'hash') {
      const run = async () => {
        createHash('sha256').update(JSON.stringify(request)).digest('hex')
        return expectedText({})
      }
      return { run, expect }
    }
    const { cache } = await import('../../packages/middleware-cache/src/index.ts')
    const client = withMiddleware(new EndingClient({}), cache())
    const { instructions, options } = request
    const run = async () =>
      (await client.getResponse(conversation, { instructions, ...options })).text
    await run()
    return { run, expect }
  },
}
