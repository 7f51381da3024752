import type { Message } from '@lamella/core'
import {
  checkOptions,
  sha256,
  systemClock,
  unlessAborted,
  wrongOption,
} from '@lamella/core/authoring'
import type { RequestSender, WireObject } from '@lamella/transport'
import { defined, HttpFailure, readWhole, stringOf } from '@lamella/transport'
import type { Turn } from '../requests/contents.ts'
import { toContents } from '../requests/contents.ts'
import type { CachedContentOptions } from '../requests/google-provider-options.ts'
import type { CacheableRequest, ContentCaching } from './content-caching.ts'

interface Entry {
  readonly name: Promise<string | undefined>
  /** Time from which on it is made anew. */
  readonly until: number
}

/** A request in two parts. */
interface CutRequest {
  /** Contents that Google keeps: instructions, tools and turns. */
  readonly content: WireObject
  /** Body of the request that continues it. */
  readonly rest: WireObject
}

const mostEntries = 1000

/**
 * Makes cached contents of the requests that ask for them, and continues those that it has made. Pass it
 * to the client as `caching`.
 *
 * @example
 * ```ts
 * import { GoogleChatClient } from '@lamella/google'
 * import { cachedContents } from '@lamella/google/caching'
 *
 * const model = 'gemini-3.8-flash'
 * const client = new GoogleChatClient({ apiKey: 'my-key', model, caching: cachedContents() })
 * const providerOptions = { google: { cachedContent: { messages: 1, ttlMs: 600_000 } } }
 * const answer = () => client.getResponse('Who is its hero?', { providerOptions })
 * ```
 */
export function cachedContents(): ContentCaching {
  const bySender = new WeakMap<RequestSender, Map<string, Entry>>()
  return (request) => {
    const { body, options, sender } = request
    const ttlMs = lifetimeOf(options)
    const cut = cutRequest(request)
    if (cut === undefined) return (_, send) => send(body)
    let entries = bySender.get(sender)
    if (entries === undefined) bySender.set(sender, (entries = new Map()))
    return sending(request, cut, ttlMs, entries)
  }
}

/** Sends a request that continues a cached content, or all of it where Google keeps none. */
function sending(
  request: CacheableRequest,
  { content, rest }: CutRequest,
  ttlMs: number,
  entries: Map<string, Entry>,
): ReturnType<ContentCaching> {
  return async (signal, send) => {
    const key = await sha256(JSON.stringify([content, ttlMs]))
    const name = nameOf(entries, key, ttlMs, () => create(request, content, ttlMs))
    const cachedContent = await unlessAborted(signal, name)
    if (cachedContent === undefined) return send(request.body)
    try {
      return await send({ ...rest, cachedContent })
    } catch (error) {
      // Somebody has deleted it.
      if (!(error instanceof HttpFailure) || (error.status !== 403 && error.status !== 404))
        throw error
      entries.delete(key)
      return send(request.body)
    }
  }
}

function nameOf(
  entries: Map<string, Entry>,
  key: string,
  ttlMs: number,
  make: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const now = systemClock.now()
  const known = entries.get(key)
  if (known !== undefined && now < known.until) return known.name
  const [oldest] = entries.keys()
  if (oldest !== undefined && entries.size >= mostEntries) entries.delete(oldest)
  const name = make().catch((error: unknown) => {
    // What is too small, or a model without, is refused again; all else may pass.
    const isRefused = error instanceof HttpFailure && error.status < 500 && error.status !== 429
    if (!isRefused) entries.delete(key)
    return undefined
  })
  // The last requests begin before it ends.
  entries.set(key, { name, until: now + ttlMs * 0.9 })
  return name
}

async function create(
  { sender, path, bodyTimeoutMs }: CacheableRequest,
  content: WireObject,
  ttlMs: number,
): Promise<string | undefined> {
  const { version, place } = namesIn(path)
  // Of no call: others wait for the same.
  const { signal } = new AbortController()
  const { body } = await readWhole({
    signal,
    open: (ended) =>
      sender.send({
        method: 'POST',
        path: `/${version}/${place}cachedContents`,
        body: { ...content, ttl: `${ttlMs / 1000}s` },
        signal: ended,
        maxRetries: 0,
      }),
    wanted: 'a cached content',
    isAnswer: ({ name }) => stringOf(name) !== undefined,
    bodyTimeoutMs,
    reportIn: () => undefined,
    toError: (cause) => cause,
  })
  return stringOf(body['name'])
}

/** Contents are kept beside the model: in `/v1beta`, or in the project of the path. */
function namesIn(path: string): { version: string; place: string; model: string } {
  const [, version = '', model = '', place = ''] =
    /^\/([^/]+)\/((projects\/[^/]+\/locations\/[^/]+\/)?.*):\w+$/.exec(path) ?? []
  return { version, place, model }
}

/** Cuts a request at the end of its cached content, if something remains on both sides. */
function cutRequest(request: CacheableRequest): CutRequest | undefined {
  const { systemInstruction, tools, toolConfig, contents: _, ...others } = request.body
  const [inFront, behind] = cutTurns(request)
  const parts = { systemInstruction, tools, toolConfig }
  const content = defined({ ...parts, contents: inFront.length > 0 ? inFront : undefined })
  // The system prompt of Gemma is in the first message.
  const isWhole = behind.length === 0 || Object.keys(content).length === 0
  if (isWhole || !request.rules.traits.takesInstructions) return undefined
  const { model } = namesIn(request.path)
  return { content: { model, ...content }, rest: { ...others, contents: behind } }
}

/** The turns on both sides of the last message that belongs to the cached content. */
function cutTurns({
  messages,
  history,
  rules,
  options,
}: CacheableRequest): readonly [readonly Turn[], readonly Turn[]] {
  const ids = new Set(messages.slice(0, options.messages ?? 0).map(({ id }: Message) => id))
  const end = history.findLastIndex(({ id }) => ids.has(id)) + 1
  return [toContents(history.slice(0, end), rules), toContents(history.slice(end), rules)]
}

function lifetimeOf(options: CachedContentOptions): number {
  const owner = 'providerOptions.google.cachedContent'
  checkOptions(owner, options, { ttlMs: 'any', messages: 0 })
  const { ttlMs = 3_600_000 } = options
  if (Number.isFinite(ttlMs) && ttlMs > 0) return ttlMs
  throw wrongOption(owner, 'ttlMs', 'a number of milliseconds above 0', ttlMs)
}
