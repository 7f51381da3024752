import { createId } from '@lamella/core'
import type { ChatService } from '../chats/chat-service.ts'
import type { Demand } from '../chats/demand.ts'
import { chatId } from '../chats/demand.ts'
import type { Handler } from '../chats/guarded-handler.ts'
import { bodyLimits, ChatServer } from '../chats/serve-chats.ts'
import type { ShownRequest } from '../chats/shown.ts'
import { HttpFailure } from '../http/http-failure.ts'
import { invalidInput, readJson } from '../http/read-json.ts'
import { AgUiEncoder } from './ag-ui-encoder.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Serves chats to AG-UI, versions 1.0 and 0.0.59: `POST` of `RunAgentInput`, and `DELETE
 * ?threadId=` to stop a run. From the input, it uses the last user message, answers to open
 * interrupts (`resume`) and results of the tools in `clientTools`. Its tools, context and state are
 * passed to `run` only.
 *
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { chatService } from '@lamella/serve'
 * import { agUiHandler } from '@lamella/serve/ag-ui'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const agent = new Agent({ client: scriptedClient(['Hello.']) })
 * const handler = agUiHandler(chatService(agent, { principal: () => 'ada' }))
 * const input = { threadId: 't1', runId: 'r1', messages: [{ id: '1', role: 'user', content: 'Hi' }] }
 * const response = await handler(
 *   new Request('https://shop.example/agent', {
 *     method: 'POST',
 *     headers: { 'content-type': 'application/json' },
 *     body: JSON.stringify(input),
 *   }),
 * )
 * console.log((await response.text()).includes('RUN_FINISHED')) // true
 * ```
 */
export function agUiHandler(service: ChatService): Handler {
  const server = new ChatServer(service, {
    failure: ({ code, message }) => ({ error: { code, message } }),
  })
  const limits = bodyLimits(service.options)
  return server.handler(async (visit) => {
    const { request, url, owner } = visit
    if (request.method === 'DELETE') {
      await service.stop({ principal: owner, chat: chatId(url.searchParams.get('threadId')) })
      return new Response(null, { status: 204 })
    }
    if (request.method !== 'POST') {
      throw new HttpFailure('use POST or DELETE', { status: 405, code: 'method_not_allowed' })
    }
    const body = await readJson(request, limits)
    const { threadId, runId, messages, protocolVersion } = fieldsOf(body)
    const chat = chatId(threadId)
    const { pending } = await service.history({ principal: owner, chat })
    const encoder = new AgUiEncoder({
      threadId: chat,
      runId: typeof runId === 'string' ? runId.slice(0, 200) : createId('run'),
      messages: Array.isArray(messages) ? messages : [],
      isOne: protocolVersion !== undefined,
    })
    return server.run(visit, demandOf(body, chat, pending), body, encoder)
  })
}

function demandOf(body: unknown, chat: string, pending: readonly ShownRequest[]): Demand {
  const { messages, resume } = fieldsOf(body)
  const list = Array.isArray(messages) ? messages.map(fieldsOf) : []
  const answers = new Map<string, unknown>()
  if (Array.isArray(resume) && resume.length > 0) {
    for (const entry of resume.map(fieldsOf)) {
      const { interruptId, status, payload } = entry
      if (typeof interruptId !== 'string')
        throw invalidInput('an entry of `resume` must have the `interruptId` that it answers')
      const request = pending.find(({ id }) => id === interruptId)
      const isNo = status === 'cancelled' && request?.kind === 'approval'
      answers.set(interruptId, isNo ? false : payload)
    }
    return { chat, answers }
  }
  const last = list.at(-1)
  if (last?.['role'] === 'tool') {
    // Results of declared tools that the page has run.
    for (const { toolCallId, content } of list.filter(({ role }) => role === 'tool')) {
      const request = pending.find(
        (one) => one.kind === 'function-call' && one.callId === toolCallId,
      )
      if (request !== undefined) answers.set(request.id, content ?? '')
    }
    return { chat, answers }
  }
  if (last?.['role'] !== 'user')
    throw invalidInput('`messages` must end with a message of the user')
  const { content } = last
  const input = Array.isArray(content) ? content.map(inputPart) : content
  return { chat, input, id: last['id'] }
}

function inputPart(value: unknown): unknown {
  const part = fieldsOf(value)
  const { type, url, value: data, mimeType: mediaType } = { ...part, ...fieldsOf(part['source']) }
  if (type === 'text') return part
  const address = url ?? (type === 'url' ? data : undefined)
  return address === undefined
    ? { type: 'data', mediaType, data: part['data'] ?? data }
    : { type: 'uri', uri: address, mediaType }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
