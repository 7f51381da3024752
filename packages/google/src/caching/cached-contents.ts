import { sha256, systemClock, unlessAborted } from '@lamella/core/authoring'
import type { RequestSender, WireObject } from '@lamella/transport'
import { defined, HttpFailure, readWhole, stringOf } from '@lamella/transport'
import type { CachedContentOptions } from '../requests/google-provider-options.ts'
import type { CutTurns } from '../requests/google-request.ts'

/** A request in two parts. */
export interface CacheableRequest {
  /** Contents that Google keeps: instructions, tools and turns. */
  readonly content: WireObject
  /** Body of the request that continues it. */
  readonly rest: WireObject
  /** Milliseconds that Google keeps the content. */
  readonly ttlMs: number
}

interface Entry {
  readonly name: Promise<string | undefined>
  /** Time from which on it is made anew. */
  readonly until: number
}

const mostEntries = 1000

/** Cached contents that a client has made, by what is in them. */
export class CachedContents {
  readonly #sender: RequestSender
  readonly #path: string
  readonly #bodyTimeoutMs: number
  readonly #entries = new Map<string, Entry>()

  constructor(sender: RequestSender, path: string, bodyTimeoutMs: number) {
    this.#sender = sender
    this.#path = path
    this.#bodyTimeoutMs = bodyTimeoutMs
  }

  /** Sends a request that continues a cached content, or all of it where Google keeps none. */
  async send(
    { content, rest, ttlMs }: CacheableRequest,
    whole: WireObject,
    signal: AbortSignal,
    send: (body: WireObject) => Promise<Response>,
  ): Promise<Response> {
    const key = await sha256(JSON.stringify([content, ttlMs]))
    const cachedContent = await unlessAborted(signal, this.#nameOf(key, content, ttlMs))
    if (cachedContent === undefined) return send(whole)
    try {
      return await send({ ...rest, cachedContent })
    } catch (error) {
      // Somebody has deleted it.
      if (!(error instanceof HttpFailure) || (error.status !== 403 && error.status !== 404))
        throw error
      this.#entries.delete(key)
      return send(whole)
    }
  }

  #nameOf(key: string, content: WireObject, ttlMs: number): Promise<string | undefined> {
    const now = systemClock.now()
    const known = this.#entries.get(key)
    if (known !== undefined && now < known.until) return known.name
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined && this.#entries.size >= mostEntries) this.#entries.delete(oldest)
    const name = this.#create(content, ttlMs).catch((error: unknown) => {
      // What is too small, or a model without, is refused again; all else may pass.
      const isRefused = error instanceof HttpFailure && error.status < 500 && error.status !== 429
      if (!isRefused) this.#entries.delete(key)
      return undefined
    })
    // The last requests begin before it ends.
    this.#entries.set(key, { name, until: now + ttlMs * 0.9 })
    return name
  }

  async #create(content: WireObject, ttlMs: number): Promise<string | undefined> {
    // Of no call: others wait for the same.
    const { signal } = new AbortController()
    const { body } = await readWhole({
      signal,
      open: (ended) =>
        this.#sender.send({
          method: 'POST',
          path: this.#path,
          body: { ...content, ttl: `${ttlMs / 1000}s` },
          signal: ended,
          maxRetries: 0,
        }),
      wanted: 'a cached content',
      isAnswer: ({ name }) => stringOf(name) !== undefined,
      bodyTimeoutMs: this.#bodyTimeoutMs,
      reportIn: () => undefined,
      toError: (cause) => cause,
    })
    return stringOf(body['name'])
  }
}

/** Cuts a request at the end of its cached content, if something remains on both sides. */
export function cutRequest(
  body: WireObject,
  { inFront, behind }: CutTurns,
  model: string,
  options: CachedContentOptions,
): CacheableRequest | undefined {
  const { systemInstruction, tools, toolConfig, contents: _, ...others } = body
  const parts = { systemInstruction, tools, toolConfig }
  const content = defined({ ...parts, contents: inFront.length > 0 ? inFront : undefined })
  if (behind.length === 0 || Object.keys(content).length === 0) return undefined
  return {
    content: { model, ...content },
    rest: { ...others, contents: behind },
    ttlMs: options.ttlMs ?? 3_600_000,
  }
}
