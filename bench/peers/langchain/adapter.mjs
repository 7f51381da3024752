// LangChain: createAgent with middleware. Middlewares are wrapModelCall and wrapToolCall; at the agent
// level beforeAgent, which is a node of its graph. No middleware sees the chunks of a stream.
import {
  counters,
  decide,
  expectedMiddlewares,
  nextNumber,
  repeat,
  toolDescription,
  toolName,
  userText,
} from '../../lib/toolkit.mjs'

// By variable names, since only who wants to measure this peer has it installed.
const load = (name) => import(name)
const { BaseChatModel } = await load('@langchain/core/language_models/chat_models')
const { AIMessage } = await load('@langchain/core/messages')
const { createAgent, createMiddleware, tool } = await load('langchain')
const { z } = await load('zod')

const messages = [{ role: 'user', content: userText }]

class FakeModel extends BaseChatModel {
  constructor(script) {
    super({})
    this.script = script
  }

  _llmType() {
    return 'fake'
  }

  bindTools() {
    return this
  }

  async _generate(prompt) {
    const lastOther = prompt.findLastIndex((message) => message.getType() !== 'tool')
    const results = prompt.slice(lastOther + 1).map(({ content }) => Number(content))
    const { text = '', calls = [] } = decide(results.length === 0 ? null : results, this.script)
    const toolCalls = calls.map((call) => ({ ...call, type: 'tool_call' }))
    const message = new AIMessage({ content: text, tool_calls: toolCalls })
    return { generations: [{ text, message }] }
  }
}

const modelMiddleware = {
  wrapModelCall: async (request, handler) => {
    counters.modelMw++
    const response = await handler(request)
    return response
  },
}

const middlewareOfAllLevels = {
  ...modelMiddleware,
  wrapToolCall: async (request, handler) => {
    counters.toolMw++
    const response = await handler(request)
    return response
  },
  beforeAgent: () => {
    counters.agentMw++
  },
}

function middlewares(k, middleware) {
  return repeat(k, (_, index) => createMiddleware({ name: `middleware-${index}`, ...middleware }))
}

const nextNumberTool = tool(({ n }) => String(nextNumber(n)), {
  name: toolName,
  description: toolDescription,
  schema: z.object({ n: z.number() }),
})

export default {
  modelCall({ k }) {
    const model = new FakeModel({})
    const agent = createAgent({ model, tools: [], middleware: middlewares(k, modelMiddleware) })
    return {
      run: async () => (await agent.invoke({ messages })).messages.at(-1).content,
      expect: { modelMw: k },
    }
  },

  agentRun({ k, rounds, parallel }) {
    const model = new FakeModel({ rounds, parallel })
    const middleware = middlewares(k, middlewareOfAllLevels)
    const agent = createAgent({ model, tools: [nextNumberTool], middleware })
    const config = { recursionLimit: 2 * rounds + 2 * k + 7 }
    return {
      run: async () => (await agent.invoke({ messages }, config)).messages.at(-1).content,
      expect: expectedMiddlewares({ k, rounds, parallel }),
    }
  },
}
