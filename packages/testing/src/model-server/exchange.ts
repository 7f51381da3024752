import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { chatCompletionsApi } from './chat-completions-api.ts'
import { systemClock } from '@lamella/core/authoring'
import { asList, asRecord, parseJson } from './json-access.ts'
import { estimateUsage, limitedAnswer } from './limited-answer.ts'
import type { ModelAnswer, ModelConversation } from './model-conversation.ts'
import type { ModelServerFailure } from './model-server-failure.ts'
import type { ModelServerRequest } from './model-server-request.ts'
import { inputItems } from './responses-input.ts'
import { responsesApi } from './responses-api.ts'
import type { WireApi, WireObject, WireReply } from './wire-api.ts'
import { standInModel } from './wire-api.ts'
import { usualRejection, WireRejection } from './wire-rejection.ts'

/** State that the exchanges of one server share. */
export interface ExchangeSettings {
  readonly latencyMs: number
  readonly chunkDelayMs: number
  readonly chunkChars: number
  readonly writeBytes: number | undefined
  readonly apiKey: string | undefined
  readonly stored: Map<string, readonly unknown[]>
  answer(
    conversation: ModelConversation,
    request: ModelServerRequest,
  ): ModelAnswer | Promise<ModelAnswer>
  arrived(request: ModelServerRequest): ModelServerFailure | undefined
  index(): number
}

/** One request and its answer. */
export class Exchange {
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  readonly #settings: ExchangeSettings
  readonly #left = new AbortController()
  #request: { -readonly [Key in keyof ModelServerRequest]: ModelServerRequest[Key] } | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, settings: ExchangeSettings) {
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#settings = settings
    outgoing.on('close', () => {
      const request = this.#request
      if (request?.outcome === 'open')
        request.outcome = outgoing.writableFinished ? 'answered' : 'left'
      this.#left.abort()
    })
  }

  async run(): Promise<void> {
    try {
      const body = await this.#readBody()
      const request = {
        index: this.#settings.index(),
        method: this.#incoming.method ?? '',
        path: this.#incoming.url ?? '',
        headers: this.#incoming.headers,
        body,
        status: undefined,
        outcome: 'open' as const,
      }
      this.#request = request
      const failure = this.#settings.arrived(request) ?? {}
      await this.#wait(this.#settings.latencyMs + (failure.delayMs ?? 0))
      if (failure.disconnect === true) this.#cut()
      else await this.#answer(request, failure)
    } catch (error) {
      if (this.#left.signal.aborted) return
      const rejection =
        error instanceof WireRejection
          ? error
          : new WireRejection(500, `The stand-in failed: ${String(error)}`)
      if (this.#outgoing.headersSent) this.#cut()
      else await this.#send(rejection.status, rejection)
    }
  }

  async #answer(request: ModelServerRequest, failure: ModelServerFailure): Promise<void> {
    const { status, headers = {} } = failure
    if (status !== undefined || failure.body !== undefined) {
      const actual = status ?? 200
      await this.#send(actual, failure.body ?? usualRejection(actual), headers)
      return
    }
    this.#checkKey()
    const path = request.path.replace(/\?.*$/u, '')
    const model = { id: standInModel, object: 'model', created: 0, owned_by: 'lamella' }
    if (request.method === 'GET' && path.endsWith('/models')) {
      await this.#send(200, { object: 'list', data: [model] }, headers)
    } else if (request.method === 'GET' && path.endsWith(`/models/${standInModel}`)) {
      await this.#send(200, model, headers)
    } else if (request.method === 'POST' && path.endsWith('/chat/completions')) {
      await this.#complete(chatCompletionsApi, request, failure)
    } else if (request.method === 'POST' && path.endsWith('/responses')) {
      await this.#complete(responsesApi, request, failure)
    } else {
      throw new WireRejection(404, `Invalid URL (${request.method} ${path})`)
    }
  }

  async #complete(
    api: WireApi,
    request: ModelServerRequest,
    failure: ModelServerFailure,
  ): Promise<void> {
    const { stored, chunkChars } = this.#settings
    if (request.body === undefined) throw new WireRejection(400, 'The body is no JSON.')
    const body = asRecord(request.body)
    const conversation = api.read(body, stored)
    const given = await this.#settings.answer(conversation, request)
    const answer = limitedAnswer(given, conversation)
    const conversationId = createHash('sha256')
      .update(JSON.stringify(conversation.turns))
      .digest('hex')
      .slice(0, 16)
    const reply: WireReply = {
      answer,
      usage: answer.usage ?? estimateUsage(conversation, answer),
      request: body,
      ids: { conversation: conversationId, response: `${conversationId}_${request.index}` },
      createdAt: Math.floor(Date.now() / 1000),
      chunkChars,
    }
    const whole = api.whole(reply)
    if (api === responsesApi && body['store'] !== false) {
      stored.set(String(whole['id']), [...inputItems(body, stored), ...asList(whole['output'])])
    }
    if (body['stream'] === true) await this.#stream(api, reply, failure)
    else await this.#whole(whole, failure)
  }

  async #whole(whole: WireObject, failure: ModelServerFailure): Promise<void> {
    const { headers, cutAfterEvents, endAfterEvents, stallAfterEvents, errorAfterEvents } = failure
    if (errorAfterEvents !== undefined) throw usualRejection(500)
    if (
      cutAfterEvents === undefined &&
      endAfterEvents === undefined &&
      stallAfterEvents === undefined
    ) {
      await this.#send(200, whole, headers)
      return
    }
    const text = JSON.stringify(whole)
    this.#begin(200, { 'content-type': 'application/json', ...headers })
    await this.#write(text.slice(0, text.length / 2))
    if (cutAfterEvents !== undefined) this.#cut()
    else if (endAfterEvents !== undefined) this.#outgoing.end()
  }

  async #stream(api: WireApi, reply: WireReply, failure: ModelServerFailure): Promise<void> {
    const { cutAfterEvents, endAfterEvents, stallAfterEvents, errorAfterEvents } = failure
    const all = api.events(reply)
    const last =
      cutAfterEvents ?? endAfterEvents ?? stallAfterEvents ?? errorAfterEvents ?? all.length
    const events = all.slice(0, last)
    if (errorAfterEvents !== undefined) {
      events.push(...api.errorEvents('The server had an error.', reply, events.length))
    }

    this.#begin(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      ...failure.headers,
    })
    this.#outgoing.flushHeaders()
    for (const [index, event] of events.entries()) {
      if (index > 0) await this.#wait(this.#settings.chunkDelayMs)
      await this.#write(event)
    }
    if (cutAfterEvents !== undefined) this.#cut()
    else if (stallAfterEvents === undefined) this.#outgoing.end()
  }

  #checkKey(): void {
    const { apiKey } = this.#settings
    const { authorization, 'api-key': azureKey } = this.#incoming.headers
    if (apiKey === undefined || authorization === `Bearer ${apiKey}` || azureKey === apiKey) return
    throw usualRejection(401)
  }

  async #send(
    status: number,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const type = typeof body === 'string' ? 'text/html; charset=utf-8' : 'application/json'
    this.#begin(status, { 'content-type': type, ...headers })
    await this.#write(text)
    this.#outgoing.end()
  }

  #begin(status: number, headers: Readonly<Record<string, string>>): void {
    const request = this.#request
    if (request !== undefined) request.status = status
    this.#outgoing.writeHead(status, {
      'x-lamella-stand-in': 'true',
      'x-request-id': `req_${request?.index ?? 0}`,
      ...headers,
    })
  }

  #cut(): void {
    if (this.#request !== undefined) this.#request.outcome = 'cut'
    this.#incoming.socket.destroy()
  }

  async #write(text: string): Promise<void> {
    const bytes = new TextEncoder().encode(text)
    const { writeBytes = bytes.length } = this.#settings
    for (let at = 0; at < bytes.length; at += writeBytes) {
      this.#left.signal.throwIfAborted()
      await new Promise<void>((resolve) => {
        this.#outgoing.write(bytes.subarray(at, at + writeBytes), () => resolve())
      })
    }
  }

  async #wait(ms: number): Promise<void> {
    if (ms > 0) await systemClock.sleep(ms, this.#left.signal)
  }

  async #readBody(): Promise<unknown> {
    const pieces: Uint8Array[] = []
    for await (const piece of this.#incoming) pieces.push(piece as Uint8Array)
    return parseJson(Buffer.concat(pieces).toString('utf8'))
  }
}
