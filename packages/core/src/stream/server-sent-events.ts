import { isObject } from '../base/is-object.ts'
import { LamellaError } from '../base/lamella-error.ts'
import { pulled } from './stream-views.ts'
import type { UpdateStream } from './update-stream.ts'

/** Kinds of content that a client gets only when the application asks for them. */
export type ClientContent =
  | 'annotations'
  | 'events'
  | 'files'
  | 'reasoning'
  | 'tool-calls'
  | 'tool-results'
  | 'usage'

/** Options of `toSSE()`. */
export interface ServerSentEventsOptions {
  /**
   * Additional content to send, besides text, refusals, restarts, public events and the status:
   * `annotations` of texts, all `events`, `files` that the model made, `reasoning`, `tool-calls`
   * with their arguments, `tool-results`, `usage`. Error messages of tools, `providerData` and
   * `raw` are never sent.
   * @default []
   */
  readonly include?: readonly ClientContent[] | undefined
}

type Fields = Readonly<Record<string, unknown>>

/**
 * One `update` event for each update that holds something for the client (`restart` where the call begins
 * again), then one `done` with the status, or an `error` with the code alone.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export function serverSentEvents<Update, Final>(
  stream: UpdateStream<Update, Final>,
  options: ServerSentEventsOptions = {},
): ReadableStream<Uint8Array> {
  const include = new Set<string>(options.include)
  for (const name of include) {
    if (clientContents.includes(name as ClientContent)) continue
    throw new RangeError(
      `toSSE: \`include\` must hold some of ${clientContents.join(', ')}, got ${name}`,
    )
  }
  const iterator = stream[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  const event = (name: string, data: unknown): Uint8Array =>
    encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
  const next = async (): Promise<Uint8Array | undefined> => {
    for (;;) {
      const { done, value } = await iterator.next()
      if (done === true) return undefined
      const shown = isObject(value) ? clientUpdate(value, include) : value
      if (shown === undefined) continue
      return event(isObject(value) && value['restart'] === true ? 'restart' : 'update', shown)
    }
  }
  let isOver = false
  return pulled(stream, async (controller) => {
    try {
      const chunk = isOver ? undefined : await next()
      if (chunk !== undefined) {
        controller.enqueue(chunk)
        return
      }
      isOver = true
      controller.enqueue(event('done', clientOutcome(await stream.finalResponse())))
    } catch (error) {
      await stream.cancel(error)
      const code = LamellaError.is(error) ? error.code : 'run_failed'
      controller.enqueue(event('error', { code }))
    }
    controller.close()
  })
}

const clientContents: readonly ClientContent[] = [
  'annotations',
  'events',
  'files',
  'reasoning',
  'tool-calls',
  'tool-results',
  'usage',
]

/** The part of an update that a client may read; nothing if there is none. */
function clientUpdate(update: Fields, include: ReadonlySet<string>): Fields | undefined {
  const { contents, role, messageId, restart, scope, event, usage } = update
  if (restart === true) return pick({ contents: [], restart, scope })
  if (!Array.isArray(contents)) return undefined
  const shown = contents.flatMap((content: unknown) =>
    isObject(content) ? (clientContent(content, role, include) ?? []) : [],
  )
  const told = isObject(event) ? clientEvent(event, include) : undefined
  const spent = include.has('usage') ? usage : undefined
  // Tool results end a stretch of text: a later restart begins behind them.
  const isBoundary = role === 'tool' && contents.length > 0
  if (shown.length === 0 && told === undefined && spent === undefined && !isBoundary) {
    return undefined
  }
  return pick({ contents: shown, role, messageId, event: told, usage: spent })
}

function clientContent(
  content: Fields,
  role: unknown,
  include: ReadonlySet<string>,
): Fields | undefined {
  const { type } = content
  if (role === 'tool' && type !== 'function-result') return undefined
  const kind = Object.hasOwn(kinds, type as string) ? kinds[type as string]! : undefined
  if (kind === undefined || (kind.asked !== undefined && !include.has(kind.asked))) return undefined
  const fields =
    type === 'text' && include.has('annotations') ? [...kind.fields, 'annotations'] : kind.fields
  const shown = pick({ type, ...Object.fromEntries(fields.map((name) => [name, content[name]])) })
  if (type !== 'function-result') return shown
  const { error, contents } = content
  // The words of an exception stay here.
  if (isObject(error)) return { ...shown, contents: [], error: { code: error['code'] } }
  const parts = Array.isArray(contents) ? (contents as Fields[]) : []
  const all = new Set<string>(clientContents)
  return { ...shown, contents: parts.flatMap((part) => clientContent(part, undefined, all) ?? []) }
}

/** Fields of each content that may be sent, and what the application must ask for. */
const kinds: Readonly<
  Record<string, { readonly fields: readonly string[]; readonly asked?: ClientContent }>
> = {
  text: { fields: ['text'] },
  refusal: { fields: ['text'] },
  reasoning: { fields: ['text'], asked: 'reasoning' },
  'function-call': { fields: ['callId', 'name', 'arguments', 'index'], asked: 'tool-calls' },
  'function-result': { fields: ['callId', 'name'], asked: 'tool-results' },
  data: { fields: ['mediaType', 'data', 'name'], asked: 'files' },
  uri: { fields: ['uri', 'mediaType', 'name'], asked: 'files' },
  usage: { fields: ['usage'], asked: 'usage' },
}

function clientEvent(event: Fields, include: ReadonlySet<string>): Fields | undefined {
  if (event['public'] !== true && !include.has('events')) return undefined
  const { type, data, id } = event
  return pick({ type, data, id })
}

/** How a run ended, for a client: no text but the neutral message of a block. */
function clientOutcome(final: unknown): Fields {
  if (!isObject(final)) return { status: 'completed' }
  const { status = 'completed', text, pending } = final
  if (status === 'blocked') return { status, message: text }
  if (status !== 'paused') return { status }
  const requests = Array.isArray(pending) ? (pending as Fields[]) : []
  return { status, pending: requests.map(clientRequest) }
}

function clientRequest({ id, kind, request, call }: Fields): Fields {
  const asked = isObject(request) ? request['call'] : call
  const { name, arguments: args } = isObject(asked) ? asked : {}
  return pick({ id, kind, name, arguments: args })
}

function pick(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
