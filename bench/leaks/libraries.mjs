// One guardrail of each library around a model that streams an answer: as it is built in, or as its documentation
// shows it. `ask(answer, produced)` returns the pieces that a reader gets; `produced` counts what the model has sent.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { kinds } from './answers.mjs'

const loader = (folder) => {
  const require = createRequire(join(folder, 'package.json'))
  return (name) => import(pathToFileURL(require.resolve(name)).href)
}
export const ours = loader(
  process.env.LAMELLA_EXAMPLES ?? join(import.meta.dirname, '..', '..', 'examples'),
)
export const peers = (name) => import(name)
const rules = Object.values(kinds).map(({ rule }) => rule)
const redact = (text) => rules.reduce((rest, rule) => rest.replace(rule, '[REDACTED]'), text)
export const question = 'Where is my order?'

/** The pieces of an answer, with a turn of the event loop between them, as from a socket. */
export async function* sent({ pieces }, produced) {
  for (const piece of pieces) {
    await new Promise((resolve) => setImmediate(resolve))
    produced(piece)
    yield piece
  }
}

export const libraries = {
  nothing: async () => (answer, produced) => sent(answer, produced),

  'Lamella: `pii()`, `contentFilter()`': async () => {
    const middleware = await guardrails()
    return lamella(() => middleware)
  },

  'Lamella in the AI SDK: `lamellaMiddleware`': async () => {
    const { lamellaMiddleware } = await ours('@lamella/ai-sdk')
    const list = await guardrails()
    return aiSdk(lamellaMiddleware(list, { toolMiddleware: 'ignore' }))
  },

  'Lamella in LangChain: `lamellaMiddleware`': async () => {
    const { lamellaMiddleware } = await ours('@lamella/langchain')
    const { createAgent } = await ours('langchain')
    const middleware = [lamellaMiddleware(await guardrails())]
    return langchain(ours, (model) => createAgent({ model, tools: [], middleware }))
  },

  'AI SDK: the guardrail of its documentation': async () => {
    const middleware = {
      specificationVersion: 'v4',
      wrapStream: async ({ doStream }) => {
        const { stream, ...rest } = await doStream()
        const buffers = new Map()
        const transform = new TransformStream({
          transform(chunk, controller) {
            if (chunk.type === 'text-start') buffers.set(chunk.id, '')
            if (chunk.type === 'text-delta') {
              buffers.set(chunk.id, (buffers.get(chunk.id) ?? '') + chunk.delta)
              return
            }
            const text = chunk.type === 'text-end' ? redact(buffers.get(chunk.id) ?? '') : ''
            if (text) controller.enqueue({ type: 'text-delta', id: chunk.id, delta: text })
            controller.enqueue(chunk)
          },
        })
        return { stream: stream.pipeThrough(transform), ...rest }
      },
    }
    return aiSdk(middleware)
  },

  'LangChain: `piiMiddleware`, `applyToOutput`': async () => {
    const { createAgent, piiMiddleware } = await peers('langchain')
    const own = { email: undefined, credit_card: undefined }
    const detectors = {
      ...own,
      phone: kinds.phone.rule,
      secret: kinds.secret.rule,
      injection: kinds.injection.rule,
    }
    const middleware = Object.entries(detectors).map(([type, detector]) =>
      piiMiddleware(type, {
        strategy: 'redact',
        applyToOutput: true,
        ...(detector && { detector }),
      }),
    )
    return langchain(peers, (model) => createAgent({ model, tools: [], middleware }))
  },

  'Mastra: `RegexFilterProcessor`': async () => {
    const { RegexFilterProcessor } = await peers('@mastra/core/processors')
    const filter = new RegexFilterProcessor({
      presets: ['pii', 'secrets'],
      // The preset for secrets does not know the newer keys of OpenAI.
      rules: ['secret', 'injection'].map((name) => ({ name, pattern: kinds[name].rule })),
      strategy: 'redact',
    })
    return mastra((model) => ({ model, outputProcessors: [filter] }))
  },

  'TanStack AI: `contentGuardMiddleware`': async () => {
    const { chat } = await peers('@tanstack/ai')
    const { contentGuardMiddleware } = await peers('@tanstack/ai/middlewares')
    const middleware = [
      contentGuardMiddleware({
        rules: rules.map((pattern) => ({ pattern, replacement: '[REDACTED]' })),
      }),
    ]
    return async function* ask(answer, produced) {
      const adapter = {
        kind: 'text',
        name: 'planted',
        model: 'planted',
        async *chatStream() {
          const facts = { timestamp: Date.now(), model: 'planted' }
          yield { type: 'RUN_STARTED', runId: 'r', threadId: 't', ...facts }
          yield { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant', ...facts }
          for await (const delta of sent(answer, produced)) {
            yield { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta, ...facts }
          }
          yield { type: 'TEXT_MESSAGE_END', messageId: 'm', ...facts }
          yield { type: 'RUN_FINISHED', runId: 'r', threadId: 't', finishReason: 'stop', ...facts }
        },
      }
      const messages = [{ role: 'user', content: question }]
      for await (const chunk of chat({ adapter, messages, middleware })) {
        if (chunk.type === 'TEXT_MESSAGE_CONTENT') yield chunk.delta
      }
    }
  },

  'OpenAI Agents: an output guardrail': async () => {
    const { Agent, run, setTracingDisabled } = await peers('@openai/agents')
    setTracingDisabled(true)
    const guardrail = {
      name: 'patterns',
      execute: async ({ agentOutput }) => ({
        tripwireTriggered: redact(String(agentOutput)) !== String(agentOutput),
        outputInfo: {},
      }),
    }
    return async function* ask(answer, produced) {
      const model = {
        getResponse() {},
        async *getStreamedResponse() {
          for await (const delta of sent(answer, produced))
            yield { type: 'output_text_delta', delta }
          const content = [{ type: 'output_text', text: answer.text }]
          const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
          const output = [
            { type: 'message', role: 'assistant', status: 'completed', id: 'm', content },
          ]
          yield { type: 'response_done', response: { id: 'r', usage, output } }
        },
      }
      const agent = new Agent({
        name: 'planted',
        instructions: 'Help.',
        model,
        outputGuardrails: [guardrail],
      })
      const stream = await run(agent, question, { stream: true })
      try {
        for await (const event of stream) {
          if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta')
            yield event.data.delta
        }
        await stream.completed
      } catch (error) {
        if (error.constructor.name !== 'OutputGuardrailTripwireTriggered') throw error
      }
    }
  },
}

async function guardrails() {
  const { pii } = await ours('@lamella/guardrail-pii')
  const { contentFilter } = await ours('@lamella/guardrail-content')
  const words = ['ignore all previous instructions']
  return [
    pii({ applyTo: ['output'] }),
    contentFilter({ level: 'chat', applyTo: ['output'], words, action: 'replace' }),
  ]
}

function modelStream(answer, produced) {
  const finish = {
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
  }
  return {
    stream: new ReadableStream({
      async start(controller) {
        controller.enqueue({ type: 'stream-start', warnings: [] })
        controller.enqueue({ type: 'text-start', id: 't' })
        for await (const delta of sent(answer, produced)) {
          controller.enqueue({ type: 'text-delta', id: 't', delta })
        }
        controller.enqueue({ type: 'text-end', id: 't' })
        controller.enqueue(finish)
        controller.close()
      },
    }),
  }
}

/** An agent of Lamella with the middleware that `make` returns for its client. */
export async function lamella(make) {
  const { Agent, BaseChatClient } = await ours('@lamella/core')
  class Planted extends BaseChatClient {
    provider = 'planted'
    async *stream() {
      for await (const text of sent(this.answer, this.produced))
        yield { contents: [{ type: 'text', text }] }
    }
    respond() {}
  }
  const middleware = make(new Planted())
  return (answer, produced) => {
    const client = Object.assign(new Planted(), { answer, produced })
    return new Agent({ client, middleware }).run(question, { stream: true }).text()
  }
}

async function aiSdk(middleware) {
  const { streamText, wrapLanguageModel } = await peers('ai')
  const { MockLanguageModelV4 } = await peers('ai/test')
  return async function* ask(answer, produced) {
    const inner = new MockLanguageModelV4({ doStream: async () => modelStream(answer, produced) })
    const model = wrapLanguageModel({ model: inner, middleware })
    yield* streamText({ model, prompt: question }).textStream
  }
}

/** An agent of Mastra with the settings that `make` returns for its model. */
export async function mastra(make, limits = {}) {
  const { Agent } = await peers('@mastra/core/agent')
  const { MockLanguageModelV3 } = await peers('ai/test')
  const frame = { id: 'planted', name: 'planted', instructions: 'Help.' }
  return async function* ask(answer, produced) {
    const model = new MockLanguageModelV3({ doStream: async () => modelStream(answer, produced) })
    const agent = new Agent({ ...frame, ...make(model) })
    yield* (await agent.stream(question, limits)).textStream
  }
}

/** An agent of LangChain that `make` returns for its model. */
export async function langchain(load, make) {
  const { BaseChatModel } = await load('@langchain/core/language_models/chat_models')
  const { AIMessageChunk } = await load('@langchain/core/messages')
  const { ChatGenerationChunk } = await load('@langchain/core/outputs')
  return async function* ask(answer, produced) {
    const model = new (class extends BaseChatModel {
      _llmType() {
        return 'planted'
      }
      bindTools() {
        return this
      }
      async *_streamResponseChunks(_messages, _options, manager) {
        for await (const text of sent(answer, produced)) {
          const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk(text) })
          yield chunk
          await manager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, {
            chunk,
          })
        }
      }
    })({})
    const messages = [{ role: 'user', content: question }]
    const stream = await make(model).stream({ messages }, { streamMode: 'messages' })
    for await (const [chunk] of stream) if (chunk.getType() === 'ai') yield chunk.text
  }
}
