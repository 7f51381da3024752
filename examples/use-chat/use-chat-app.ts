import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { ChatClient, Tool } from '@lamella/core'
import { Agent, memoryStore } from '@lamella/core'
import type { ChatServiceOptions, Handler } from '@lamella/serve'
import { chatService } from '@lamella/serve'
import { uiStreamHandler } from '@lamella/serve/ui-stream'
import { build } from 'esbuild'
import { noPasswords, refund, retryOnce } from '../chat/shop.ts'

const css = new URL('../../templates/app/page/page.css', import.meta.url)

/** Settings of the app. */
export interface UseChatAppOptions {
  /** Major version of the AI SDK in the page. */
  readonly protocol?: 6 | 7
  readonly onBusy?: ChatServiceOptions['onBusy']
  readonly tools?: readonly Tool[]
}

/** A chat whose page is React with `useChat` of the AI SDK. */
export async function useChatApp(
  client: ChatClient,
  { protocol = 7, onBusy = 'steer', tools = [] }: UseChatAppOptions = {},
): Promise<Handler> {
  const agent = new Agent({
    name: 'support',
    client,
    tools: [refund, ...tools],
    store: memoryStore({ maxEntries: 10_000 }),
    middleware: [noPasswords, retryOnce],
  })
  const chats = chatService(agent, {
    principal: (request) =>
      /(?:^|; )user=([\w-]{36})/.exec(request.headers.get('cookie') ?? '')?.[1],
    mayApprove: ({ tool: name }) => name === 'refund',
    onDisconnect: 'continue',
    onBusy,
  })
  const chat = uiStreamHandler(chats, { protocol })
  const script = await pageScript(protocol)

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

async function pageScript(protocol: 6 | 7): Promise<string> {
  const older = { ai: 'ai-v6', '@ai-sdk/react': '@ai-sdk/react-v6' }
  const { outputFiles } = await build({
    absWorkingDir: fileURLToPath(new URL('.', import.meta.url)),
    entryPoints: ['page.jsx'],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2023',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
    alias: protocol === 6 ? older : {},
  })
  return outputFiles[0]!.text
}

function file(text: string, type: string): Response {
  return new Response(text, { headers: { 'content-type': `${type}; charset=utf-8` } })
}
