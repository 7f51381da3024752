import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { ChatClient } from '@lamella/core'
import { Agent, memoryStore } from '@lamella/core'
import type { Handler } from '@lamella/serve'
import { chatService } from '@lamella/serve'
import { uiStreamHandler } from '@lamella/serve/ui-stream'
import { build } from 'esbuild'
import { noPasswords, refund, retryOnce } from '../chat/shop.ts'

const css = new URL('../../templates/app/page/page.css', import.meta.url)

/** A chat whose page is React with `useChat` of the AI SDK. */
export async function useChatApp(client: ChatClient): Promise<Handler> {
  const agent = new Agent({
    name: 'support',
    client,
    tools: [refund],
    store: memoryStore({ maxEntries: 10_000 }),
    middleware: [noPasswords, retryOnce],
  })
  const chats = chatService(agent, {
    principal: (request) =>
      /(?:^|; )user=([\w-]{36})/.exec(request.headers.get('cookie') ?? '')?.[1],
    mayApprove: ({ tool: name }) => name === 'refund',
    onDisconnect: 'continue',
  })
  const chat = uiStreamHandler(chats)
  const script = await pageScript()

  return async (request) => {
    const { pathname } = new URL(request.url)
    if (pathname.startsWith('/api/chat')) return chat(request)
    if (pathname === '/page.js') return file(script, 'text/javascript')
    if (pathname === '/page.css') return file(await readFile(css, 'utf8'), 'text/css')
    if (pathname !== '/') return new Response(null, { status: 404 })
    const response = file(
      await readFile(new URL('index.html', import.meta.url), 'utf8'),
      'text/html',
    )
    if (!(request.headers.get('cookie') ?? '').includes('user=')) {
      const cookie = `user=${crypto.randomUUID()}; Path=/; HttpOnly; SameSite=Lax`
      response.headers.set('set-cookie', cookie)
    }
    return response
  }
}

async function pageScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('page.jsx', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2023',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  })
  return outputFiles[0]!.text
}

function file(text: string, type: string): Response {
  return new Response(text, { headers: { 'content-type': `${type}; charset=utf-8` } })
}
