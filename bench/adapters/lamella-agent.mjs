// Ours with an agent around the model call or stream that `lamella` makes by its client alone.
import { repeat } from '../lib/toolkit.mjs'
import { Agent, chatLayer, FakeClient, messages, readStream, streamLayer } from './lamella.mjs'

export default {
  modelCall({ k }) {
    const agent = new Agent({ client: new FakeClient({}), middleware: repeat(k, chatLayer) })
    return { run: async () => (await agent.run(messages)).text, expect: { modelMw: k } }
  },

  stream({ chunks, k }) {
    const client = new FakeClient({ chunks })
    const agent = new Agent({ client, middleware: repeat(k, streamLayer) })
    return {
      run: (onChunk) => readStream(agent.run(messages, { stream: true }), onChunk),
      expect: { streamMw: k * chunks },
    }
  },
}
