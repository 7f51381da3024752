// Runs that the regression check measures, with the text that each resolves to.
import { Agent } from '@lamella/core'
import { OpenAIChatCompletionsClient } from '@lamella/openai/fetch'
import lamella from '../adapters/lamella.mjs'
import { answer, stackAgent } from './stack.mjs'
import { pieces, wordOf } from './stream-chunks.mjs'
import { expectedStreamText, expectedText } from './toolkit.mjs'

const k = 3
const round = { rounds: 1, parallel: 1 }
const updates = 1000

/** Answers as a server would, without a socket. */
const bodies = pieces.map((piece) => new TextEncoder().encode(piece))
const fetch = async () => {
  const rest = bodies.values()
  const body = new ReadableStream({
    pull(controller) {
      const { done, value } = rest.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
const client = new OpenAIChatCompletionsClient({ model: 'm', apiKey: 'none', fetch })
const overFetch = new Agent({ client })
const joined = async (texts) => {
  let whole = ''
  for await (const text of texts) whole += text
  return whole
}

const stream = lamella.stream({ chunks: updates, k })
const stack = await stackAgent()
let number = 0

export const cases = {
  'a model call through three middlewares': {
    run: lamella.modelCall({ k }).run,
    text: expectedText({}),
  },
  'a tool round through three middlewares of each level': {
    run: lamella.agentRun({ k, ...round }).run,
    text: expectedText(round),
  },
  'a stream of 1,000 updates through three transforms': {
    run: () => stream.run(() => {}),
    text: expectedStreamText(updates),
  },
  'a streamed answer of 300 chunks, by the client on fetch': {
    run: () => joined(overFetch.run('Hi', { stream: true }).text()),
    text: Array.from({ length: 300 }, (_, index) => wordOf(index)).join(''),
  },
  'a run with the recommended middleware': {
    run: async () => (await stack.run(`How is the weather in Rome, number ${number++}?`)).text,
    text: answer,
  },
}
