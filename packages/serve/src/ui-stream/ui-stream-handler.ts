import { checkOptions } from '@lamella/core/authoring'
import type { ChatService } from '../chats/chat-service.ts'
import { chatId } from '../chats/demand.ts'
import type { Handler } from '../chats/guarded-handler.ts'
import { bodyLimits, ChatServer } from '../chats/serve-chats.ts'
import { HttpFailure } from '../http/http-failure.ts'
import { invalidInput, readJson } from '../http/read-json.ts'
import { uiChatId, uiDemand } from './ui-body.ts'
import { uiMessages } from './ui-messages.ts'
import type { Restarts } from './ui-stream-encoder.ts'
import { UiStreamEncoder } from './ui-stream-encoder.ts'

/** Options of `uiStreamHandler`. */
export interface UiStreamOptions {
  /** Major version of the AI SDK in the page: 6, or 7 (7.0.70 or newer). @default 7 */
  readonly protocol?: 6 | 7 | undefined
  /**
   * Treatment of restarts: `reset` discards the text that was sent, which only version 7 supports,
   * `hold` sends an answer when it is complete, and `error` ends the stream with
   * `stream_restarted`.
   * @default 'reset' for 7, 'hold' for 6
   */
  readonly restarts?: 'reset' | 'hold' | 'error' | undefined
}

/**
 * Serves chats for `useChat` of the AI SDK.
 *
 * | request | response |
 * |---|---|
 * | `POST` of `useChat` | the answer as a UI message stream |
 * | `GET /<id>/stream` | the run that continues, from its first chunk; 204 if there is none |
 * | `GET /<id>` | `{ messages, running }`, for the chat's initial messages |
 * | `DELETE /<id>/stream` | stops the run |
 * | `DELETE /<id>` | deletes the chat |
 *
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { chatService } from '@lamella/serve'
 * import { uiStreamHandler } from '@lamella/serve/ui-stream'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const agent = new Agent({ client: scriptedClient(['Hello.']) })
 * const handler = uiStreamHandler(chatService(agent, { principal: () => 'ada' }))
 * const chat = await handler(new Request('https://shop.example/api/chat/c1'))
 * console.log(await chat.json()) // { messages: [], running: false }
 * ```
 * @throws RangeError or TypeError that names the option and the value
 */
export function uiStreamHandler(service: ChatService, options: UiStreamOptions = {}): Handler {
  checkOptions('uiStreamHandler', options, {
    protocol: [6, 7],
    restarts: ['reset', 'hold', 'error'],
  })
  const { protocol = 7 } = options
  const restarts: Restarts = options.restarts ?? (protocol === 6 ? 'hold' : 'reset')
  if (protocol === 6 && restarts === 'reset') {
    throw new RangeError("uiStreamHandler: `restarts` must be 'hold' or 'error' for `protocol` 6")
  }
  const server = new ChatServer(service, {
    headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
    failure: ({ code, message }) => ({ error: { code, message } }),
  })
  const limits = bodyLimits(service.options)
  return server.handler(async (visit) => {
    const { request, url, owner } = visit
    if (request.method === 'POST') {
      const body = await readJson(request, limits)
      const history = await service.history({ principal: owner, chat: uiChatId(body) })
      const { answered, ...demand } = uiDemand(body, history)
      return server.run(visit, demand, body, new UiStreamEncoder(restarts, answered))
    }
    const names = url.pathname.split('/').filter(Boolean)
    const isStream = names.at(-1) === 'stream'
    const name = names.at(isStream ? -2 : -1)
    if (name === undefined) throw invalidInput('the address must end with the id of a chat')
    const chat = chatId(decoded(name))
    const address = { principal: owner, chat }
    if (request.method === 'GET') {
      if (isStream) return server.replay(visit, chat)
      const history = await service.history(address)
      const shown = { messages: uiMessages(history), running: history.running }
      return Response.json(shown, { headers: { 'cache-control': 'no-store' } })
    }
    if (request.method !== 'DELETE') {
      throw new HttpFailure('use GET, POST or DELETE', { status: 405, code: 'method_not_allowed' })
    }
    if (isStream) await service.stop(address)
    else await service.delete(address)
    return new Response(null, { status: 204 })
  })
}

/** Returns undefined for what is no escape of a text. */
function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name)
  } catch {
    return undefined
  }
}
