import type { ChatService } from '../chats/chat-service.ts'
import type { Demand } from '../chats/demand.ts'
import { answersOf, chatId } from '../chats/demand.ts'
import type { Handler } from '../chats/guarded-handler.ts'
import { bodyLimits, ChatServer } from '../chats/serve-chats.ts'
import type { Encoder } from '../chats/shown.ts'
import { HttpFailure } from '../http/http-failure.ts'
import { invalidInput, readJson } from '../http/read-json.ts'
import { changedResponse } from './requests-handler.ts'

/**
 * Serves chats in the format of `toSSE(stream)`, for the reader of `@lamella/serve/client`.
 *
 * | request | response |
 * |---|---|
 * | `POST { chat, input, id? }` | the answer as events; with `onBusy`, what became of it in the run of the chat |
 * | `POST { chat, answers }` | continues what waits for these answers, by id |
 * | `POST { chat, again }` | answers the user's message with this number, from 1, again |
 * | `GET ?chat=` | `{ messages, pending, running }` |
 * | `GET ?chat=&since=` | the same with its `version`, as soon as that is another; 204 if nothing happens |
 * | `GET ?chat=&stream` | the run that continues, from its first event; 204 if there is none |
 * | `GET` | the chats, the latest first |
 * | `DELETE ?chat=&run` | stops the run |
 * | `DELETE ?chat=` | deletes the chat |
 *
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { chatService } from '@lamella/serve'
 * import { sseHandler } from '@lamella/serve/sse'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const agent = new Agent({ client: scriptedClient(['Hello.']) })
 * const handler = sseHandler(chatService(agent, { principal: () => 'ada' }))
 * const history = await handler(new Request('https://shop.example/chat?chat=c1'))
 * console.log(await history.json()) // { messages: [], pending: [], running: false }
 * ```
 */
export function sseHandler(service: ChatService): Handler {
  const server = new ChatServer(service, {
    failure: ({ code, message }) => ({ error: { code, message } }),
  })
  const limits = bodyLimits(service.options)
  return server.handler(async (visit) => {
    const { request, url, owner } = visit
    const named = url.searchParams.get('chat')
    const chat = named === null ? undefined : chatId(named)
    if (request.method === 'POST') {
      const body = await readJson(request, limits)
      return server.run(visit, demandOf(body), body, sseEncoder())
    }
    if (request.method === 'GET') {
      if (chat === undefined) return noStore(await service.list(owner))
      const since = url.searchParams.get('since')
      if (since !== null) {
        const address = { principal: owner, chat }
        return changedResponse(request, since, (signal) => service.changed(address, since, signal))
      }
      if (!url.searchParams.has('stream'))
        return noStore(await service.history({ principal: owner, chat }))
      return server.replay(visit, chat)
    }
    if (request.method !== 'DELETE') {
      throw new HttpFailure('use GET, POST or DELETE', { status: 405, code: 'method_not_allowed' })
    }
    if (chat === undefined) throw invalidInput('`chat` is missing')
    if (url.searchParams.has('run')) await service.stop({ principal: owner, chat })
    else await service.delete({ principal: owner, chat })
    return new Response(null, { status: 204 })
  })
}

function demandOf(body: unknown): Demand {
  const { chat: name, input, answers, again, id } = (body ?? {}) as Record<string, unknown>
  const chat = chatId(name)
  if ([input, answers, again].filter((part) => part !== undefined).length !== 1) {
    throw invalidInput('the body must have one of `input`, `answers` and `again`')
  }
  if (answers !== undefined) return { chat, answers: answersOf(answers) }
  if (again === undefined) return { chat, input, id }
  if (!Number.isInteger(again) || (again as number) < 1) {
    throw invalidInput('`again` must be the number of a user message, from 1')
  }
  return { chat, again: again as number }
}

function noStore(value: unknown): Response {
  return Response.json(value, { headers: { 'cache-control': 'no-store' } })
}

function sseEncoder(): Encoder {
  const event = (name: string, data: unknown): string =>
    `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
  return {
    encode(shown) {
      if (shown.type === 'update') {
        return event(shown.update.restart === true ? 'restart' : 'update', shown.update)
      }
      if (shown.type === 'done') return event('done', shown.outcome)
      return event('error', { code: shown.failure.code })
    },
  }
}
