// The floor: a hand-written loop with an onion of async functions at each level, and one async
// generator per stream middleware.
import {
  chunkText,
  counters,
  decide,
  expectedMiddlewares,
  nextNumber,
  repeat,
  toolName,
  userText,
} from '../lib/toolkit.mjs'

const tools = { [toolName]: ({ n }) => nextNumber(n) }
const messages = [{ role: 'user', text: userText }]

export function fakeModel(script) {
  return async ({ messages: prompt }) => {
    const last = prompt.at(-1)
    const { text, calls } = decide(last.role === 'tool' ? last.results : null, script)
    return {
      role: 'assistant',
      text,
      calls: calls?.map((call) => ({ ...call, args: JSON.stringify(call.args) })),
    }
  }
}

export function agentLoop(chat, callFunction) {
  return async (input) => {
    const history = [...input.messages]
    for (;;) {
      const message = await chat({ messages: history })
      history.push(message)
      const { text, calls } = message
      if (calls === undefined) return { text, messages: history }
      const results =
        calls.length === 1
          ? [await callFunction(calls[0])]
          : await Promise.all(calls.map(callFunction))
      history.push({ role: 'tool', results })
    }
  }
}

export async function callTool({ name, args }) {
  return tools[name](JSON.parse(args))
}

export async function* textChunks(chunks) {
  for (let index = 0; index < chunks; index++) {
    counters.produced++
    yield { type: 'text', text: chunkText(index) }
  }
}

/** `k` middlewares around `core`, each of which counts under `name`. */
function onion(k, name, core) {
  const middleware = () => async (input, next) => {
    counters[name]++
    const result = await next(input)
    return result
  }
  return repeat(k, middleware).reduceRight((next, around) => (input) => around(input, next), core)
}

async function* streamMiddleware(source) {
  for await (const chunk of source) {
    counters.streamMw++
    yield chunk
  }
}

export default {
  modelCall({ k }) {
    const chat = onion(k, 'modelMw', fakeModel({}))
    return { run: async () => (await chat({ messages })).text, expect: { modelMw: k } }
  },

  agentRun({ k, rounds, parallel }) {
    const chat = onion(k, 'modelMw', fakeModel({ rounds, parallel }))
    const agent = onion(k, 'agentMw', agentLoop(chat, onion(k, 'toolMw', callTool)))
    return {
      run: async () => (await agent({ messages })).text,
      expect: expectedMiddlewares({ k, rounds, parallel }),
    }
  },

  stream({ chunks, k }) {
    return {
      async run(onChunk) {
        let source = textChunks(chunks)
        for (let middleware = 0; middleware < k; middleware++) source = streamMiddleware(source)
        let text = ''
        for await (const chunk of source) {
          text += chunk.text
          const waiting = onChunk(chunk.text)
          if (waiting) await waiting
        }
        return text
      },
      expect: { streamMw: k * chunks },
    }
  },
}
