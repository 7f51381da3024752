// Ours with an agent around the model call or stream that `lamella` makes by its client alone.
import { repeat } from '../lib/toolkit.mjs'
import {
  Agent,
  defineChatMiddleware,
  FakeClient,
  messages,
  readStream,
  streamMiddleware,
} from './lamella.mjs'

export default {
  modelCall({ k }) {
    const agent = new Agent({
      client: new FakeClient({}),
      middleware: repeat(k, defineChatMiddleware),
    })
    return { run: async () => (await agent.run(messages)).text, expect: { modelMw: k } }
  },

  stream({ chunks, k }) {
    const client = new FakeClient({ chunks })
    const agent = new Agent({ client, middleware: repeat(k, streamMiddleware) })
    return {
      run: (onChunk) => readStream(agent.run(messages, { stream: true }), onChunk),
      expect: { streamMw: k * chunks },
    }
  },
}
