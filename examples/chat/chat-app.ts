import { stripTypeScriptTypes } from 'node:module'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { ChatClient, KeyValueStore } from '@lamella/core'
import { Agent, memoryStore } from '@lamella/core'
import { pictureOf, recorder } from '@lamella/picture'
import { filesIn } from '@lamella/picture/file'
import type { Handler } from '@lamella/serve'
import { chatService } from '@lamella/serve'
import { requestsHandler, sseHandler } from '@lamella/serve/sse'
import { noPasswords, refund, retryOnce } from './shop.ts'

/** Options of the chat. */
export interface ChatAppOptions {
  /** Store of the chats, which several processes may share. @default the memory of this one */
  readonly store?: KeyValueStore | undefined
  /** Whoever opens `/manager?secret=` with it sees and answers the requests of all customers. @default nobody */
  readonly secret?: string | undefined
}

/** A chat with a page, an approval, a guardrail, a picture of its last run, and a page for managers. */
export async function chatApp(
  client: ChatClient,
  { store = memoryStore({ maxEntries: 10_000 }), secret }: ChatAppOptions = {},
): Promise<Handler> {
  const cookieOf = (request: Request, name: string): string | undefined =>
    new RegExp(`(?:^|; )${name}=([\\w-]{36})`).exec(request.headers.get('cookie') ?? '')?.[1]
  const isManager = (request: Request): boolean =>
    secret !== undefined && cookieOf(request, 'manager') === secret
  const files = filesIn(await mkdtemp(join(tmpdir(), 'lamella-chat-')))
  const record = recorder({ sink: files })
  const agent = new Agent({
    name: 'support',
    client,
    instructions: 'You are the support of a shop. Refund orders when asked.',
    tools: [refund],
    middleware: record.middleware([noPasswords, retryOnce]),
  })
  const chats = chatService(agent, {
    store,
    principal: (request) => {
      if (new URL(request.url).pathname !== '/requests') return cookieOf(request, 'user')
      return isManager(request) ? 'manager' : undefined
    },
    // Replace this with your sign-in: who may see whose requests.
    mayManage: ({ principal }) => principal.id === 'manager',
    // The customer may approve small sums. The page lets them edit the arguments.
    mayApprove: ({ arguments: given }) =>
      typeof given?.['euros'] === 'number' && given['euros'] <= 100,
    onDisconnect: 'continue',
    // What a customer says during an answer is read at the next step.
    onBusy: 'steer',
  })
  const chat = sseHandler(chats)
  const requests = requestsHandler(chats)
  // The page is that of the template `app`, which `npm create lamella` writes.
  const pages = new URL('../../templates/app/page/', import.meta.url)
  const page = new Map([
    ['/', ['index.html', 'text/html']],
    ['/page.css', ['page.css', 'text/css']],
    ['/page.js', ['page.js', 'text/javascript']],
    ['/manager', ['manager.html', 'text/html']],
    ['/manager.js', ['manager.js', 'text/javascript']],
  ])
  const reader = import.meta.resolve('@lamella/serve/client')

  return async (request) => {
    const { pathname } = new URL(request.url)
    if (pathname === '/chat') return chat(request)
    if (pathname === '/requests') return requests(request)
    if (pathname === '/picture') {
      await record.flush()
      if (files.latest === undefined) return new Response('Nothing has run yet.', { status: 404 })
      return html(pictureOf(await readFile(files.latest, 'utf8')))
    }
    // A relative path without dots: no other folder, no other host.
    const [, part] = /^\/reader\/(\w[\w/-]*\.[jt]s)$/.exec(pathname) ?? []
    if (part !== undefined) {
      const file = await readFile(new URL(part, reader), 'utf8').catch(() => undefined)
      if (file === undefined) return new Response(null, { status: 404 })
      const script = part.endsWith('.ts') ? stripTypeScriptTypes(file) : file
      return new Response(script, { headers: { 'content-type': 'text/javascript' } })
    }
    const [name, type] = page.get(pathname) ?? []
    if (name === undefined) return new Response('There is nothing here.', { status: 404 })
    const folder = name.startsWith('manager') ? import.meta.url : pages
    const text = await readFile(new URL(name, folder), 'utf8')
    if (pathname === '/manager') {
      const given = new URL(request.url).searchParams.get('secret')
      const isKnown = given === null || given !== secret
      return html(
        text,
        { 'set-cookie': `manager=${secret}; Path=/; HttpOnly; SameSite=Lax` },
        isKnown,
      )
    }
    if (type !== 'text/html') return new Response(text, { headers: { 'content-type': type! } })
    return html(
      text
        .replace('/reader/client.js', `/reader/${basename(reader)}`)
        .replace('</nav>', `${picture}</nav>`),
      {
        'set-cookie': `user=${crypto.randomUUID()}; Path=/; HttpOnly; SameSite=Lax`,
      },
      cookieOf(request, 'user') !== undefined,
    )
  }
}

const picture = '<a href="/picture" target="_blank" rel="noopener">Picture of the last run</a>'

function html(text: string, headers: Record<string, string> = {}, isKnown = false): Response {
  const type = { 'content-type': 'text/html; charset=utf-8' }
  return new Response(text, { headers: isKnown ? type : { ...type, ...headers } })
}
