import type { ChatResponseUpdate } from '@lamella/core'
import { isObject } from '@lamella/core/authoring'

/** Kinds of content that a client gets only if the application includes them. */
export type ClientContent =
  | 'annotations'
  | 'events'
  | 'files'
  | 'reasoning'
  | 'tool-calls'
  | 'tool-results'
  | 'usage'

/** The part of an update that a client may read. */
export interface ClientUpdate
  extends Pick<
    ChatResponseUpdate,
    'contents' | 'role' | 'messageId' | 'restart' | 'scope' | 'usage'
  > {
  /** Event of the run: one that was emitted as public, or any if `include` has `events`. */
  readonly event?:
    | {
        /** Kind of event. */
        readonly type: string
        /** Data of the event, JSON. */
        readonly data?: unknown
        /** Id of a request, for an answer. */
        readonly id?: string
      }
    | undefined
}

/** A request that a paused run waits for, as a client sees it. */
export interface ClientRequest {
  /** Key for the answer. */
  readonly id: string
  /** Kind of request. */
  readonly kind: 'approval' | 'function-call' | 'interrupt'
  /** Id of the tool call. Undefined for an interrupt. */
  readonly callId?: string
  /** Name of the tool. Undefined for an interrupt. */
  readonly name?: string
  /** Arguments of the call as the model wrote them, JSON text. Undefined for an interrupt. */
  readonly arguments?: string
}

/** End of a run, as a client receives it. */
export interface ClientOutcome {
  /** Status of the run. */
  readonly status: string
  /** Neutral message of a blocked run. */
  readonly message?: string | undefined
  /** Requests that a paused run waits for. */
  readonly pending?: readonly ClientRequest[] | undefined
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Checks a list of what clients get besides text.
 * @throws RangeError that names the option and the value
 */
export function clientContents(
  owner: string,
  include: readonly ClientContent[] = [],
): ReadonlySet<ClientContent> {
  const wrong = include.find((name) => !everything.has(name))
  if (wrong === undefined) return new Set(include)
  const known = [...everything].join(', ')
  throw new RangeError(`${owner}: \`include\` may hold ${known}, got ${wrong}`)
}

const everything: ReadonlySet<ClientContent> = new Set([
  'annotations',
  'events',
  'files',
  'reasoning',
  'tool-calls',
  'tool-results',
  'usage',
])

/**
 * Returns the part of an update, or of a message, that a client may read; `undefined` if there is none.
 */
export function clientUpdate(
  update: object,
  include: ReadonlySet<ClientContent>,
): ClientUpdate | undefined {
  const { contents, role, messageId, restart, scope, event, usage } = update as Fields
  if (restart === true) return { contents: [], restart, scope } as ClientUpdate
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
  return { contents: shown, role, messageId, event: told, usage: spent } as ClientUpdate
}

function clientContent(
  content: Fields,
  role: unknown,
  include: ReadonlySet<ClientContent>,
): Fields | undefined {
  const { type } = content
  if (role === 'tool' && type !== 'function-result') return undefined
  const kind = Object.hasOwn(kinds, type as string) ? kinds[type as string]! : undefined
  if (kind === undefined || (kind.asked !== undefined && !include.has(kind.asked))) return undefined
  const fields =
    type === 'text' && include.has('annotations') ? [...kind.fields, 'annotations'] : kind.fields
  const shown: Fields = { type, ...pick(content, fields) }
  if (type !== 'function-result') return shown
  const { error, contents } = content
  // The words of an exception stay here.
  if (isObject(error)) return { ...shown, contents: [], error: { code: error['code'] } }
  const parts = Array.isArray(contents) ? (contents as Fields[]) : []
  return {
    ...shown,
    contents: parts.flatMap((part) => clientContent(part, undefined, everything) ?? []),
  }
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

function clientEvent(event: Fields, include: ReadonlySet<ClientContent>): Fields | undefined {
  if (event['public'] !== true && !include.has('events')) return undefined
  return pick(event, ['type', 'data', 'id'])
}

/** How a run ended, for a client: no text but the neutral message of a block. */
export function clientOutcome(final: unknown): ClientOutcome {
  if (!isObject(final)) return { status: 'completed' }
  const { status = 'completed', text, pending } = final
  if (status === 'blocked') return { status, message: text } as ClientOutcome
  if (status !== 'paused') return { status } as ClientOutcome
  const requests = Array.isArray(pending) ? (pending as Fields[]) : []
  return { status, pending: requests.map(clientRequest) }
}

function clientRequest({ id, kind, request, call: own }: Fields): ClientRequest {
  const asked = isObject(request) ? request['call'] : own
  const call = isObject(asked) ? pick(asked, ['callId', 'name', 'arguments']) : {}
  return { id, kind, ...call } as unknown as ClientRequest
}

/** The fields with these names that are not undefined. */
function pick(from: Fields, names: readonly string[]): Fields {
  const known = names.filter((name) => from[name] !== undefined)
  return Object.fromEntries(known.map((name) => [name, from[name]]))
}
