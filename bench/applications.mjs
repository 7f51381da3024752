// The same small application on each framework: an agent with an OpenAI model and a tool. `entries` is what it
// imports, `source` what is bundled, and `stream(url)` resolves to a function that reads one answer from a
// server and returns its length.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readByHand } from './lib/read-by-hand.mjs'

const apiKey = 'none'

/** Imports a package from where an application has it. */
const from = (folder, name) =>
  import(
    pathToFileURL(createRequire(join(import.meta.dirname, folder, 'package.json')).resolve(name))
      .href
  )

const length = async (pieces) => {
  let sum = 0
  for await (const piece of pieces) sum += piece.length
  return sum
}

/** An application on Lamella, with a client of OpenAI from `entry`. */
const sourceOf = (entry) => `import { Agent, chatMiddleware, tool } from '@lamella/core'
  import { OpenAIChatCompletionsClient } from '${entry}'
  const now = tool({ name: 'now', description: 'The time.', execute: () => Date.now() })
  const note = chatMiddleware('note', async (context, callNext) => { await callNext(); console.log(context.result) })
  const client = new OpenAIChatCompletionsClient({ model: 'm', apiKey: 'none' })
  export const agent = new Agent({ client, tools: [now], middleware: [note] })`

async function streamOf(baseURL) {
  const [{ Agent }, { OpenAIChatCompletionsClient }] = await Promise.all(
    this.entries.map((name) => import(name)),
  )
  const client = new OpenAIChatCompletionsClient({ model: 'm', apiKey, baseURL })
  const agent = new Agent({ client })
  return () => length(agent.run('Hi', { stream: true }).text())
}

export const applications = [
  {
    name: 'fetch by hand',
    folder: '.',
    stream: (url) => () => length(readByHand(fetch, url)),
  },
  {
    name: 'openai, the SDK alone',
    folder: '../packages/openai',
    entries: ['openai'],
    source: `import OpenAI from 'openai'
      export const client = new OpenAI({ apiKey: 'none' })`,
    async stream(baseURL) {
      const { default: OpenAI } = await from(this.folder, 'openai')
      const client = new OpenAI({ apiKey, baseURL })
      const messages = [{ role: 'user', content: 'Hi' }]
      return async () => {
        let sum = 0
        for await (const { choices } of await client.chat.completions.create({
          model: 'm',
          stream: true,
          messages,
        }))
          sum += choices[0].delta.content?.length ?? 0
        return sum
      }
    },
  },
  { name: '@lamella/core', folder: '.', entries: ['@lamella/core'] },
  {
    name: '@lamella/core, @lamella/openai/fetch',
    folder: '.',
    entries: ['@lamella/core', '@lamella/openai/fetch'],
    source: sourceOf('@lamella/openai/fetch'),
    stream: streamOf,
  },
  {
    name: '@lamella/core, @lamella/openai',
    folder: '.',
    entries: ['@lamella/core', '@lamella/openai'],
    source: sourceOf('@lamella/openai'),
    stream: streamOf,
  },
  ...['azure-openai', 'anthropic'].flatMap((name) =>
    [`@lamella/${name}/fetch`, `@lamella/${name}`].map((entry) => ({
      name: `@lamella/core, ${entry}`,
      folder: '../examples',
      entries: ['@lamella/core', entry],
    })),
  ),
  {
    name: '@anthropic-ai/sdk, the SDK alone',
    folder: '../packages/anthropic',
    entries: ['@anthropic-ai/sdk'],
  },
  { name: 'ai', folder: 'peers/ai', entries: ['ai'] },
  {
    name: 'ai, @ai-sdk/openai',
    folder: 'peers/ai',
    entries: ['ai', '@ai-sdk/openai'],
    source: `import { ToolLoopAgent, jsonSchema, tool, wrapLanguageModel } from 'ai'
      import { createOpenAI } from '@ai-sdk/openai'
      const now = tool({ description: 'The time.', inputSchema: jsonSchema({ type: 'object' }), execute: () => Date.now() })
      const note = { wrapGenerate: async ({ doGenerate }) => { const result = await doGenerate(); console.log(result); return result } }
      const model = wrapLanguageModel({ model: createOpenAI({ apiKey: 'none' }).chat('m'), middleware: note })
      export const agent = new ToolLoopAgent({ model, tools: { now } })`,
    async stream(baseURL) {
      const { streamText } = await from(this.folder, 'ai')
      const { createOpenAI } = await from(this.folder, '@ai-sdk/openai')
      const model = createOpenAI({ apiKey, baseURL }).chat('m')
      return () => length(streamText({ model, prompt: 'Hi' }).textStream)
    },
  },
  {
    name: 'langchain, @langchain/openai',
    folder: 'peers/langchain',
    entries: ['langchain', '@langchain/openai'],
    source: `import { createAgent, createMiddleware, tool } from 'langchain'
      import { ChatOpenAI } from '@langchain/openai'
      const now = tool(() => String(Date.now()), { name: 'now', description: 'The time.', schema: { type: 'object' } })
      const note = createMiddleware({ name: 'note', wrapModelCall: async (request, handler) => { const result = await handler(request); console.log(result); return result } })
      export const agent = createAgent({ model: new ChatOpenAI({ model: 'm', apiKey: 'none' }), tools: [now], middleware: [note] })`,
    async stream(baseURL) {
      const { createAgent } = await from(this.folder, 'langchain')
      const { ChatOpenAI } = await from(this.folder, '@langchain/openai')
      const model = new ChatOpenAI({ model: 'm', apiKey, configuration: { baseURL } })
      const agent = createAgent({ model, tools: [] })
      const input = { messages: [{ role: 'user', content: 'Hi' }] }
      const texts = async function* () {
        for await (const [{ text }] of await agent.stream(input, { streamMode: 'messages' }))
          yield text
      }
      return () => length(texts())
    },
  },
  {
    name: '@openai/agents',
    folder: 'peers/openai-agents',
    entries: ['@openai/agents'],
    source: `import { Agent, run, tool } from '@openai/agents'
      const now = tool({ name: 'now', description: 'The time.', parameters: { type: 'object', properties: {}, required: [], additionalProperties: true }, strict: false, execute: () => String(Date.now()) })
      const agent = new Agent({ name: 'a', model: 'm', tools: [now] })
      export const answer = (input) => run(agent, input)`,
    async stream(baseURL) {
      const agents = await from(this.folder, '@openai/agents')
      const { default: OpenAI } = await from(this.folder, 'openai')
      agents.setTracingDisabled(true)
      const model = new agents.OpenAIChatCompletionsModel(new OpenAI({ apiKey, baseURL }), 'm')
      const agent = new agents.Agent({ name: 'a', model })
      return async () => length((await agents.run(agent, 'Hi', { stream: true })).toTextStream())
    },
  },
  {
    name: '@mastra/core/agent, @ai-sdk/openai',
    folder: 'peers/mastra',
    entries: ['@mastra/core/agent', '@ai-sdk/openai'],
    source: `import { Agent } from '@mastra/core/agent'
      import { createOpenAI } from '@ai-sdk/openai'
      export const agent = new Agent({ id: 'a', name: 'a', instructions: 'Be kind.', model: createOpenAI({ apiKey: 'none' }).chat('m') })`,
    async stream(baseURL) {
      const { Agent } = await from(this.folder, '@mastra/core/agent')
      const { createOpenAI } = await from(this.folder, '@ai-sdk/openai')
      const model = createOpenAI({ apiKey, baseURL }).chat('m')
      const agent = new Agent({ id: 'a', name: 'a', instructions: 'Be kind.', model })
      return async () => length((await agent.stream('Hi')).textStream)
    },
  },
]
