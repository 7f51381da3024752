// Vercel AI SDK: generateText and streamText, middlewares by wrapLanguageModel. The model is a plain object,
// since the SDK's mock keeps every call that it saw.
import {
  chunkText,
  counters,
  decide,
  nextNumber,
  repeat,
  toolDescription,
  toolName,
  userText,
} from '../../lib/toolkit.mjs'

// By variable names, since only who wants to measure this peer has it installed.
const load = (name) => import(name)
const { generateText, stepCountIs, streamText, tool, wrapLanguageModel } = await load('ai')
const { z } = await load('zod')

const usage = { inputTokens: { total: 10 }, outputTokens: { total: 5 } }
const base = { specificationVersion: 'v4', provider: 'fake', modelId: 'fake', supportedUrls: {} }
const messages = [{ role: 'user', content: userText }]

function fakeModel(script) {
  return {
    ...base,
    async doGenerate({ prompt }) {
      const last = prompt.at(-1)
      const results = last.role === 'tool' ? last.content.map(({ output }) => output.value) : null
      const { text, calls } = decide(results, script)
      const content = calls?.map(({ id, name, args }) => ({
        type: 'tool-call',
        toolCallId: id,
        toolName: name,
        input: JSON.stringify(args),
      })) ?? [{ type: 'text', text }]
      const finishReason = { unified: calls === undefined ? 'stop' : 'tool-calls' }
      return { content, finishReason, usage, warnings: [] }
    },
  }
}

function streamModel(chunks) {
  return {
    ...base,
    async doStream() {
      const parts = streamParts(chunks)
      const stream = new ReadableStream({
        pull(controller) {
          const { done, value } = parts.next()
          if (done) controller.close()
          else controller.enqueue(value)
        },
      })
      return { stream }
    },
  }
}

function* streamParts(chunks) {
  yield { type: 'stream-start', warnings: [] }
  yield { type: 'text-start', id: '1' }
  for (let index = 0; index < chunks; index++) {
    counters.produced++
    yield { type: 'text-delta', id: '1', delta: chunkText(index) }
  }
  yield { type: 'text-end', id: '1' }
  yield { type: 'finish', finishReason: { unified: 'stop' }, usage }
}

const middleware = () => ({
  specificationVersion: 'v4',
  async wrapGenerate({ doGenerate }) {
    counters.modelMw++
    const result = await doGenerate()
    return result
  },
  async wrapStream({ doStream }) {
    const { stream, ...rest } = await doStream()
    const transform = new TransformStream({
      transform(part, controller) {
        if (part.type === 'text-delta') counters.streamMw++
        controller.enqueue(part)
      },
    })
    return { stream: stream.pipeThrough(transform), ...rest }
  },
})

function wrap(model, k) {
  return k === 0 ? model : wrapLanguageModel({ model, middleware: repeat(k, middleware) })
}

const tools = {
  [toolName]: tool({
    description: toolDescription,
    inputSchema: z.object({ n: z.number() }),
    execute: async ({ n }) => nextNumber(n),
  }),
}

export default {
  modelCall({ k }) {
    const model = wrap(fakeModel({}), k)
    return {
      run: async () => (await generateText({ model, messages })).text,
      expect: { modelMw: k },
    }
  },

  agentRun({ k, rounds, parallel }) {
    const model = wrap(fakeModel({ rounds, parallel }), k)
    const stopWhen = stepCountIs(rounds + 2)
    return {
      run: async () => (await generateText({ model, messages, tools, stopWhen })).text,
      expect: { modelMw: k * (rounds + 1) },
    }
  },

  stream({ chunks, k }) {
    const model = wrap(streamModel(chunks), k)
    return {
      async run(onChunk) {
        const { textStream, text } = streamText({ model, messages })
        for await (const chunk of textStream) {
          const waiting = onChunk(chunk)
          if (waiting) await waiting
        }
        return text
      },
      expect: { streamMw: k * chunks },
    }
  },
}
