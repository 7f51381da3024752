// A chat over HTTP with one handler for Bun, Deno, workers and Node: a reader is answered, and one who leaves ends
// the run. CI runs it on Bun, Deno and workerd; in your project, `export default { fetch: handler }` is enough.
import { Agent } from '@lamella/core'
import { chatService } from '@lamella/serve'
import { chatReader } from '@lamella/serve/client'
import { sseHandler } from '@lamella/serve/sse'
import { scriptedClient } from '@lamella/testing'

interface Server {
  readonly port?: number
  readonly addr?: { readonly port: number }
  stop?(force: boolean): Promise<void>
  shutdown?(): Promise<void>
}
const { Bun, Deno } = globalThis as {
  readonly [Name in 'Bun' | 'Deno']?: { serve(options: object): Server }
}

const client = scriptedClient(['Hello, Ada.', { updates: ['Half'], hang: true }])
const chats = chatService(new Agent({ client }), { principal: () => 'ada' })
const handler = sseHandler(chats)

async function check(): Promise<void> {
  const place = { port: 0, hostname: '127.0.0.1' }
  const server = (Bun ?? Deno)?.serve({ ...place, fetch: handler, handler })
  const url = `http://127.0.0.1:${server?.port ?? server?.addr?.port ?? 80}/`
  const send: typeof fetch = (address, init) =>
    server === undefined ? handler(new Request(address, init)) : fetch(address, init)

  const page = chatReader({ url, chat: 'c1', fetch: send })
  await page.send('I am Ada.')
  const answer = page.state.messages.at(-1)?.contents[0]?.text

  const leave = new AbortController()
  const { body } = await send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ chat: 'c2', input: 'Are you there?' }),
    signal: leave.signal,
  })
  const reader = body!.getReader()
  await reader.read()
  leave.abort()
  await reader.cancel().catch(() => undefined)
  const isEnded = () => client.requests[1]?.signal.aborted === true
  for (let tries = 0; tries < 50 && !isEnded(); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await (server?.stop?.(true) ?? server?.shutdown?.())

  const where = Bun ? 'by Bun' : Deno ? 'by Deno' : `in ${navigator.userAgent}`
  console.log(`a chat was served ${where}:`, answer, `ended ${isEnded()}`)
  if (answer !== 'Hello, Ada.' || !isEnded()) throw new Error('this runtime cannot serve a chat')
}

/** Handler that `workerd test` calls. */
export default { test: check }
if (!navigator.userAgent.startsWith('Cloudflare')) await check()
