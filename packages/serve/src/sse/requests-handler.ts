import type { OpenRequest } from '@lamella/store'
import type { ChatService } from '../chats/chat-service.ts'
import type { Handler } from '../chats/guarded-handler.ts'
import { bodyLimits, ChatServer } from '../chats/serve-chats.ts'
import { HttpFailure } from '../http/http-failure.ts'
import { invalidInput, readJson } from '../http/read-json.ts'

/**
 * Serves the open requests of all chats to those who `mayManage` them.
 *
 * | request | response |
 * |---|---|
 * | `GET` | `{ requests, version }`, the latest first |
 * | `GET ?since=` | the same as soon as it is another version, 204 if it is not within 20 seconds |
 * | `POST { id, claim: true }` | `{ claimed }`: reserves the request for a minute |
 * | `POST { id, answer }` | 202: the run of the chat continues with this answer |
 *
 * @example
 * ```ts
 * import { Agent, memoryStore } from '@lamella/core'
 * import { chatService } from '@lamella/serve'
 * import { requestsHandler } from '@lamella/serve/sse'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const agent = new Agent({ client: scriptedClient(['Hello.']) })
 * const chats = chatService(agent, {
 *   store: memoryStore(),
 *   principal: () => 'max',
 *   mayManage: ({ principal }) => principal.id === 'max',
 * })
 * const response = await requestsHandler(chats)(new Request('https://shop.example/requests'))
 * console.log(await response.json()) // { requests: [], version: '' }
 * ```
 */
export function requestsHandler(service: ChatService): Handler {
  const server = new ChatServer(service, {
    failure: ({ code, message }) => ({ error: { code, message } }),
  })
  const limits = bodyLimits(service.options)
  return server.handler(async ({ request, url, owner }) => {
    if (request.method === 'GET') {
      const since = url.searchParams.get('since')
      // A version of nothing that was read is none.
      return changedResponse(request, since, async (signal) => {
        const found = await service.requestsChanged(owner, since ?? 'none', signal)
        return found && { ...found, requests: found.requests.map(shownRequest) }
      })
    }
    if (request.method !== 'POST') {
      throw new HttpFailure('use GET or POST', { status: 405, code: 'method_not_allowed' })
    }
    const { id, claim, answer } = Object(await readJson(request, limits)) as Record<string, unknown>
    if (typeof id !== 'string') throw invalidInput('`id` must be that of a request')
    if (claim === true) return Response.json({ claimed: await service.claimRequest(owner, id) })
    if (answer === undefined) throw invalidInput('`answer` or `claim` is missing')
    await server.continue(await service.beginAnswer(owner, id, answer))
    return Response.json({}, { status: 202 })
  })
}

/** Answers with what has changed, or with 204 when nothing does for a while. */
export async function changedResponse(
  request: Request,
  since: string | null,
  read: (signal: AbortSignal) => Promise<object | undefined>,
): Promise<Response> {
  const limit = AbortSignal.timeout(longestWaitMs)
  const found = await read(since === null ? limit : AbortSignal.any([limit, request.signal]))
  const headers = { 'cache-control': 'no-store' }
  return found === undefined
    ? new Response(null, { status: 204, headers })
    : Response.json(found, { headers })
}

/** Proxies close connections that are silent for longer. */
const longestWaitMs = 20_000

function shownRequest({ claim, ...request }: OpenRequest): object {
  return { ...request, ...(claim && claim.until > Date.now() && { claimedBy: claim.by }) }
}
