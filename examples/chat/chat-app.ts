import { stripTypeScriptTypes } from 'node:module'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { ChatClient } from '@lamella/core'
import { Agent, memoryStore } from '@lamella/core'
import { pictureOf, recorder } from '@lamella/picture'
import { filesIn } from '@lamella/picture/file'
import type { Handler } from '@lamella/serve'
import { chatService } from '@lamella/serve'
import { sseHandler } from '@lamella/serve/sse'
import { noPasswords, refund, retryOnce } from './shop.ts'

/** A chat with a page, an approval, a guardrail, and a picture of its last run. */
export async function chatApp(client: ChatClient): Promise<Handler> {
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
    store: memoryStore({ maxEntries: 10_000 }),
    principal: (request) =>
      /(?:^|; )user=([\w-]{36})/.exec(request.headers.get('cookie') ?? '')?.[1],
    // The customer may approve small sums. The page lets them edit the arguments.
    mayApprove: ({ arguments: given }) =>
      typeof given?.['euros'] === 'number' && given['euros'] <= 100,
    onDisconnect: 'continue',
    // What a customer says during an answer is read at the next step.
    onBusy: 'steer',
  })
  const chat = sseHandler(chats)
  // The page is that of the template `app`, which `npm create lamella` writes.
  const pages = new URL('../../templates/app/page/', import.meta.url)
  const page = new Map([
    ['/', ['index.html', 'text/html']],
    ['/page.css', ['page.css', 'text/css']],
    ['/page.js', ['page.js', 'text/javascript']],
  ])
  const reader = import.meta.resolve('@lamella/serve/client')

  return async (request) => {
    const { pathname } = new URL(request.url)
    if (pathname === '/chat') return chat(request)
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
    const text = await readFile(new URL(name, pages), 'utf8')
    if (type !== 'text/html') return new Response(text, { headers: { 'content-type': type! } })
    return html(
      text
        .replace('/reader/client.js', `/reader/${basename(reader)}`)
        .replace('</nav>', `${picture}</nav>`),
      {
        'set-cookie': `user=${crypto.randomUUID()}; Path=/; HttpOnly; SameSite=Lax`,
      },
      /user=/.test(request.headers.get('cookie') ?? ''),
    )
  }
}

const picture = '<a href="/picture" target="_blank" rel="noopener">Picture of the last run</a>'

function html(text: string, headers: Record<string, string> = {}, isKnown = false): Response {
  const type = { 'content-type': 'text/html; charset=utf-8' }
  return new Response(text, { headers: isKnown ? type : { ...type, ...headers } })
}
