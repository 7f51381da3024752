// A floor for onions: koa-compose around the model call, tool call and loop of `bare`. Its layers
// return no value, so results sit on the context.
import compose from 'koa-compose'
import { counters, expectedLayers, repeat, userText } from '../lib/toolkit.mjs'
import { agentLoop, callTool, fakeModel } from './bare.mjs'

const messages = [{ role: 'user', text: userText }]

function onion(k, name, core) {
  const layer = () => async (_context, next) => {
    counters[name]++
    await next()
  }
  const innermost = async (context) => {
    context.result = await core(context.input)
  }
  const run = compose([...repeat(k, layer), innermost])
  return async (input) => {
    const context = { input, result: undefined }
    await run(context)
    return context.result
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
      expect: expectedLayers({ k, rounds, parallel }),
    }
  },
}
