import type { Agent, ChatClient, MessageInput, RunOptions } from '@lamella/core'
import type { ClientContent } from '../updates/client-updates.ts'
import { createSecretId, checkOptions } from '@lamella/core/authoring'
import { isProviderError, userInput } from '@lamella/core'
import { clientContents } from '../updates/client-updates.ts'
import type { ChatServiceOptions } from '../chats/chat-options.ts'
import { ownerOf } from '../chats/principal.ts'
import type { Door, Handler, Visit } from '../chats/guarded-handler.ts'
import { guardedHandler } from '../chats/guarded-handler.ts'
import { bodyLimits, eventResponse } from '../chats/serve-chats.ts'
import { failureOf } from '../http/failure-of.ts'
import { logLine } from '../http/log-line.ts'
import { HttpFailure } from '../http/http-failure.ts'
import { invalidInput, readJson } from '../http/read-json.ts'
import type { AnswerInit } from './answer-stream.ts'
import { AnswerStream } from './answer-stream.ts'
import { completionsWriter } from './completions-writer.ts'
import type { OpenAIRequest } from './openai-request.ts'
import { completionsRequest, responsesRequest } from './openai-request.ts'
import { errorBody } from './openai-writer.ts'
import { responsesWriter } from './responses-writer.ts'

/** Options of `openAIHandler`. */
export interface OpenAIHandlerOptions
  extends Pick<
    ChatServiceOptions,
    | 'principal'
    | 'include'
    | 'run'
    | 'allowedOrigins'
    | 'input'
    | 'maxBodyBytes'
    | 'bodyTimeoutMs'
    | 'keepAliveMs'
    | 'readerTimeoutMs'
    | 'headersAfterMs'
    | 'onError'
  > {
  /**
   * Treatment of system messages in a request to an agent: reject with status 400, drop, or add to
   * its instructions. A client in a gateway gets them unchanged.
   * @default 'refuse'
   */
  readonly system?: 'refuse' | 'ignore' | 'instructions' | undefined
  /**
   * Treatment of restarts, which the protocol does not support: `error` ends the stream with
   * `stream_restarted`, `hold` sends an answer when it is complete.
   * @default 'error'
   */
  readonly restarts?: 'error' | 'hold' | undefined
  /**
   * Text appended to the answer of an agent that waits for an approval, which this protocol cannot
   * give.
   * @default 'This needs an approval, which cannot be given here.'
   */
  readonly pausedText?: string | undefined
}

/**
 * Serves agents and clients to any client of OpenAI's protocol: `GET /models`, `POST
 * /chat/completions` and `POST /responses`, at the end of any address. An agent gets the texts of
 * the conversation; a client is a gateway, with tools and all options, so that its middleware
 * applies to any provider.
 *
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { openAIHandler } from '@lamella/serve/openai'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const support = new Agent({ client: scriptedClient(['Hello.']) })
 * const handler = openAIHandler({ support }, { principal: () => 'ada' })
 * const models = await handler(new Request('https://shop.example/v1/models'))
 * console.log((await models.text()).includes('"support"')) // true
 * ```
 * @throws TypeError or RangeError that names the option and the value
 */
export function openAIHandler(
  models: Readonly<Record<string, Agent | ChatClient>>,
  options: OpenAIHandlerOptions,
): Handler {
  checkOptions('openAIHandler', options, {
    principal: 'function',
    include: 'any',
    run: 'function?',
    allowedOrigins: 'any',
    input: 'any',
    maxBodyBytes: 1,
    bodyTimeoutMs: 'ms',
    keepAliveMs: 1,
    readerTimeoutMs: 'ms',
    headersAfterMs: 0,
    onError: 'function?',
    system: ['refuse', 'ignore', 'instructions'],
    restarts: ['error', 'hold'],
    pausedText: 'string?',
  })
  const include = clientContents('openAIHandler', options.include)
  const { headersAfterMs = 10_000, restarts = 'error', onError } = options
  const { pausedText = 'This needs an approval, which cannot be given here.' } = options
  const created = Math.floor(Date.now() / 1000)
  const limits = bodyLimits(options)
  const report: Door['report'] = (error, facts) => {
    if (onError !== undefined) onError(error, facts)
    else console.error(logLine(error))
  }

  const answer = async (
    { request: from, owner }: Visit,
    asked: OpenAIRequest,
    body: unknown,
    isCompletion: boolean,
  ): Promise<Response> => {
    const model = Object.hasOwn(models, asked.model) ? models[asked.model] : undefined
    if (model === undefined) throw notFound('there is no model of this name')
    const id = createSecretId('answer').slice(7)
    const head = { id, model: asked.model, created: Math.floor(Date.now() / 1000) }
    const own = (await options.run?.(from, body, owner)) ?? {}
    const isAgent = 'resume' in model
    const mask = isAgent ? failureOf : gatewayFailure
    const open: AnswerInit['open'] = isAgent
      ? (signal) => model.run(...agentRun(asked, options, { ...own, signal, ...ownerOf(owner) }))
      : (signal) => {
          const { instructions, options: given } = asked
          const { data } = own
          const call = { ...given, ...ownerOf(owner), data, signal, stream: true } as const
          return model.getResponse(asked.messages, {
            ...call,
            ...(instructions !== undefined && { instructions }),
          })
        }
    const stream = new AnswerStream({
      open,
      include: isAgent ? include : new Set([...include, ...gatewayContents]),
      holds: restarts === 'hold',
      writer: isCompletion ? completionsWriter(head, asked.includeUsage) : responsesWriter(head),
      pausedText,
      mask,
      report: (error) => report(error, { principal: owner }),
    })
    const leave = (): void => stream.cancel(from.signal.reason)
    from.signal.addEventListener('abort', leave, { once: true })
    try {
      if (!asked.stream) return Response.json(await stream.whole())
      await stream.opened(headersAfterMs)
    } catch (error) {
      const failure = mask(error)
      const isOwn = failure.status >= 500 && !from.signal.aborted
      if (isOwn) report(error, { principal: owner })
      throw failure
    }
    return eventResponse(
      { next: () => stream.next(), cancel: (reason) => stream.cancel(reason) },
      options,
    )
  }

  const { principal, allowedOrigins } = options
  return guardedHandler(
    { principal, allowedOrigins, failure: errorBody, report },
    async (visit) => {
      const { request, url } = visit
      const list = Object.keys(models).map((id) => ({
        id,
        object: 'model',
        created,
        owned_by: 'lamella',
      }))
      const path = url.pathname.replace(/\/$/, '')
      if (request.method === 'GET') {
        if (path.endsWith('/models')) return Response.json({ object: 'list', data: list })
        const found = list.find(({ id }) => path.endsWith(`/models/${encodeURIComponent(id)}`))
        if (found === undefined) throw notFound('there is nothing at this address')
        return Response.json(found)
      }
      const isCompletion = path.endsWith('/chat/completions')
      if (request.method !== 'POST' || (!isCompletion && !path.endsWith('/responses'))) {
        throw notFound('there is nothing at this address')
      }
      const body = await readJson(request, limits)
      const asked = isCompletion ? completionsRequest(body) : responsesRequest(body)
      return answer(visit, asked, body, isCompletion)
    },
  )
}

const gatewayContents: readonly ClientContent[] = ['tool-calls', 'usage']

type RunArguments = readonly [MessageInput, RunOptions & { readonly stream: true }]

/**
 * The client wrote this history: only texts of user and assistant count, no decisions and no
 * results.
 */
function agentRun(
  { messages, instructions: given }: OpenAIRequest,
  { system = 'refuse', input }: OpenAIHandlerOptions,
  own: RunOptions,
): RunArguments {
  const words = given === undefined ? [] : [given]
  const said = messages.flatMap((entry) => {
    const { id, role, contents } = entry
    if (role === 'system') {
      words.push(contents.map((part) => (part.type === 'text' ? part.text : '')).join(''))
      return []
    }
    if (role === 'user') return [{ ...userInput({ parts: contents }, input), id }]
    if (role === 'tool' || contents.some(({ type }) => type === 'function-call')) {
      throw invalidInput(
        'an agent runs its tools itself: messages may hold no calls and no results',
      )
    }
    return [{ ...entry, contents: contents.filter(({ type }) => type === 'text') }]
  })
  if (words.length > 0 && system === 'refuse') {
    throw invalidInput('an agent has its own instructions: system messages are not accepted')
  }
  if (said.at(-1)?.role !== 'user') throw invalidInput('the last message must be of the user')
  const isAdded = words.length > 0 && system === 'instructions'
  const instructions = [...(own.instructions === undefined ? [] : [own.instructions]), ...words]
  return [said, { ...own, stream: true, ...(isAdded && { instructions: instructions.join('\n') }) }]
}

/** A gateway passes the kind of a provider's failure on, since its client retries by it. */
function gatewayFailure(error: unknown): HttpFailure {
  if (!isProviderError(error)) return failureOf(error)
  const { kind, retry } = error
  const [status, code] = kinds[kind] ?? [502, 'server_error']
  const message = `the provider failed (${kind})`
  return new HttpFailure(message, { status, code, retryAfterMs: retry.afterMs, cause: error })
}

const kinds: Readonly<Record<string, readonly [status: number, code: string]>> = {
  rate_limit: [429, 'rate_limit_exceeded'],
  quota: [429, 'insufficient_quota'],
  overloaded: [503, 'overloaded'],
  timeout: [504, 'timeout'],
  invalid_request: [400, 'invalid_request'],
  context_length: [400, 'context_length_exceeded'],
  content_filter: [400, 'content_filter'],
  not_found: [404, 'model_not_found'],
  auth: [401, 'invalid_api_key'],
  server: [500, 'server_error'],
}

function notFound(message: string): HttpFailure {
  return new HttpFailure(message, { status: 404, code: 'not_found' })
}
