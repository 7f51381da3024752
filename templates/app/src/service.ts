import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Agent } from '@lamella/core'
import type { ChatService, Handler } from '@lamella/serve'
import { chatService } from '@lamella/serve'
import { sseHandler } from '@lamella/serve/sse'
import { newVisitor, visitorOf } from './visitor.ts'

/** Largest refund in euros that customers may approve themselves. */
const mostEuros = 100

/** Creates the chats of the agent, and decides who sent a request and who may approve what. */
export function supportChats(agent: Agent, secret: string): ChatService {
  return chatService(agent, {
    principal: (request) => visitorOf(request, secret),
    mayApprove: ({ tool, arguments: given }) => {
      const euros = given?.['euros']
      return tool === 'refund_order' && typeof euros === 'number' && euros > 0 && euros <= mostEuros
    },
    run: (_request, _body, { id }) => ({ data: { customer: id } }),
    // Closing the tab does not cancel the answer; the page picks it up again when it reloads.
    onDisconnect: 'continue',
    // The agent reads a message that arrives during an answer at its next step.
    onBusy: 'steer',
  })
}

const files: Readonly<Record<string, readonly [name: string, type: string]>> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/page.css': ['page.css', 'text/css'],
  '/page.js': ['page.js', 'text/javascript'],
}

/** Serves the page, and its chats at `/chat`. */
export function supportService(chats: ChatService, secret: string): Handler {
  const chat = sseHandler(chats)
  const reader = new URL(import.meta.resolve('@lamella/serve/client'))

  return async (request) => {
    const { pathname } = new URL(request.url)
    if (pathname === '/chat') return chat(request)
    if (pathname === '/reader/client.js') {
      return new Response(await readFile(reader), {
        headers: { 'content-type': 'text/javascript' },
      })
    }
    const [name, type] = (Object.hasOwn(files, pathname) && files[pathname]) || []
    if (name === undefined || type === undefined) return new Response(null, { status: 404 })
    const file = await readFile(new URL(`../page/${basename(name)}`, import.meta.url))
    const response = new Response(file, { headers: { 'content-type': type } })
    if (pathname === '/' && visitorOf(request, secret) === undefined) {
      response.headers.set('set-cookie', newVisitor(secret))
    }
    return response
  }
}
