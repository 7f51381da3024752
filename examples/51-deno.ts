// A Deno server for an agent with middleware, and a request to it. The packages are the same as on other
// runtimes. In your project: `deno add npm:@lamella/core`, then `deno run --allow-net server.ts`. Node and
// Bun, which have no `Deno`, call the same handler without a server.
import { Agent, chatMiddleware } from '@lamella/core'
import { toolPolicy } from '@lamella/guardrail-tools'
import { scriptedClient } from '@lamella/testing'

interface DenoServer {
  readonly addr: { readonly port: number }
  shutdown(): Promise<void>
}
type Handler = (request: Request) => Promise<Response>
const { Deno } = globalThis as {
  Deno?: { serve(options: { port: number; hostname: string }, handler: Handler): DenoServer }
}

const calls: string[] = []
const count = chatMiddleware('count', async (context, callNext) => {
  await callNext()
  calls.push(context.result?.text ?? '')
})
const client = scriptedClient(({ messages }) => `You said ${messages.length} thing.`)
const agent = new Agent({ client, middleware: [toolPolicy(), count] })

const handler: Handler = async (request) => {
  const { status, text } = await agent.run(await request.text())
  return Response.json({ status, text })
}

const question = { method: 'POST', body: 'Hello' }
const server = Deno?.serve({ port: 0, hostname: '127.0.0.1' }, handler)
const response = server
  ? await fetch(`http://127.0.0.1:${server.addr.port}`, question)
  : await handler(new Request('http://127.0.0.1', question))
const answer = JSON.stringify(await response.json())
await server?.shutdown()

console.log(server ? 'served by Deno' : 'without a server', answer)
if (answer !== '{"status":"completed","text":"You said 1 thing."}' || calls.length !== 1) {
  throw new Error(answer)
}
