import { agentLoop, callTool, fakeModel } from '../adapters/bare.mjs'
import { expectedMiddlewares, userText } from './toolkit.mjs'

const messages = [{ role: 'user', text: userText }]

/** The calls and runs of `bare` in onions: `onion(k, name, core)` puts k middlewares that count around `core`. */
export function onionAdapter(onion) {
  return {
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
  }
}
