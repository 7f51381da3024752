// A fetch handler for an edge worker: it streams an agent's answer as server-sent events, and the run ends when
// the reader disconnects. It uses no Node module; CI runs it in workerd. Elsewhere, the file calls itself.
import { Agent } from '@lamella/core'
import { pii } from '@lamella/guardrail-pii'
import { cache } from '@lamella/middleware-cache'
import { retry } from '@lamella/middleware-retry'
import { toSSE } from '@lamella/serve'
import { scriptedClient } from '@lamella/testing'

interface ExecutionContext {
  waitUntil(promise: Promise<unknown>): void
}

// A real worker uses `new OpenAIChatClient({ apiKey })`.
const client = scriptedClient(
  ({ messages }) => `You asked: ${JSON.stringify(messages.at(-1)?.contents)}`,
)

const worker = {
  async fetch(request: Request, _env?: unknown, execution?: ExecutionContext): Promise<Response> {
    const question = new URL(request.url).searchParams.get('q')
    if (question === null) return new Response('Ask with ?q=…', { status: 400 })

    const agent = new Agent({
      client,
      middleware: [
        pii({ entities: ['contact'] }),
        cache({ waitUntil: (write) => execution?.waitUntil(write) }),
        retry(),
      ],
    })
    const stream = agent.run(question, { stream: true, signal: request.signal })
    return new Response(toSSE(stream), { headers: { 'content-type': 'text/event-stream' } })
  },

  /** Handler that `workerd test` calls. */
  async test(): Promise<void> {
    const ask = (query: string) => worker.fetch(new Request(`https://edge.example/${query}`))
    const body = await (await ask('?q=mail+ann@example.com')).text()
    console.log(`${navigator.userAgent}: ${body.split('event:').length - 1} events`)
    if (!body.includes('[EMAIL]') || body.includes('ann@example.com')) throw new Error(body)
    if ((await ask('')).status !== 400) throw new Error('a question is required')
  },
}

export default worker
if (!navigator.userAgent.startsWith('Cloudflare')) await worker.test()
