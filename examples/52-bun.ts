// A Bun server that streams an agent's answer as plain text, and a reader of it. The packages are the same as on
// other runtimes. In your project: `bun add @lamella/core`, then `bun server.ts`. Node and Deno, which have no
// `Bun`, call the same handler without a server.
import { Agent } from '@lamella/core'
import { maxTokens } from '@lamella/guardrail-tokens'
import { retry } from '@lamella/middleware-retry'
import { scriptedClient } from '@lamella/testing'

type Handler = (request: Request) => Response
interface BunServer {
  readonly url: URL
  stop(force?: boolean): Promise<void>
}
const { Bun } = globalThis as {
  Bun?: { serve(options: { port: number; hostname: string; fetch: Handler }): BunServer }
}

const client = scriptedClient(() => 'One word after another.', { chunk: 'word' })
const agent = new Agent({ client, middleware: [maxTokens({ maxInputTokens: 1000 }), retry()] })

const handler: Handler = ({ signal }) => {
  const stream = agent.run('Say something.', { stream: true, signal })
  const bytes = ReadableStream.from(stream.text()).pipeThrough(new TextEncoderStream())
  return new Response(bytes, { headers: { 'content-type': 'text/plain' } })
}

const server = Bun?.serve({ port: 0, hostname: '127.0.0.1', fetch: handler })
const response = server ? await fetch(server.url) : handler(new Request('http://127.0.0.1'))

let text = ''
for await (const piece of (response.body ?? new Blob([]).stream()).pipeThrough(
  new TextDecoderStream(),
)) {
  text += piece
}
await server?.stop(true)

console.log(server ? 'served by Bun:' : 'without a server:', text)
if (text !== 'One word after another.') throw new Error(text)
