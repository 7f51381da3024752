import { LamellaError } from '@lamella/core'
import { checkOptions, isObject } from '@lamella/core/authoring'
import type { Detection, DetectPii } from './detector.ts'

/** Options of {@link presidio}. */
export interface PresidioOptions {
  /** Address of the analyzer, such as `http://localhost:5002`. */
  readonly url: string
  /** Language of the texts. @default 'en' */
  readonly language?: string | undefined
  /** Entities to find, by Presidio's names. @default all that the analyzer has */
  readonly entities?: readonly string[] | undefined
  /** Lowest score that counts, from 0 to 1. @default 0.5 */
  readonly minScore?: number | undefined
  /** Headers of every request, such as for a gateway. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sends requests. @default the global `fetch` */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/**
 * Creates a function for `detect` that asks a Presidio analyzer. Kinds are Presidio's names in small letters,
 * such as `person` and `location`.
 * @see https://microsoft.github.io/presidio/api-docs/api-docs.html
 * @throws TypeError or RangeError that names the option and the value
 * @example
 * ```ts
 * import { pii, presidio } from '@lamella/guardrail-pii'
 *
 * const middleware = pii({ detect: presidio({ url: 'http://localhost:5002', entities: ['PERSON'] }) })
 * ```
 */
export function presidio(options: PresidioOptions): DetectPii {
  checkOptions('presidio', options, {
    url: 'string',
    language: 'string?',
    entities: 'any',
    minScore: 'any',
    headers: 'any',
    fetch: 'function?',
  })
  const { url, language = 'en', entities, minScore = 0.5, headers } = options
  const { fetch: send = globalThis.fetch } = options
  const address = `${url.replace(/\/$/, '')}/analyze`
  return async (text, { signal }) => {
    const body = { text, language, score_threshold: minScore, ...(entities && { entities }) }
    const response = await send(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal,
    })
    if (!response.ok) {
      await response.body?.cancel()
      throw failed(`status ${response.status}`)
    }
    const found: unknown = await response.json().catch(() => undefined)
    if (!Array.isArray(found)) throw failed('the answer is no list')
    const unitAt = unitsOf(text)
    return found.map((one: unknown) => detectionOf(one, unitAt))
  }
}

function detectionOf(found: unknown, unitAt: (point: number) => number): Detection {
  const { entity_type: entity, start, end, score } = isObject(found) ? found : {}
  const isWhole = Number.isInteger(start) && Number.isInteger(end)
  if (typeof entity !== 'string' || !isWhole || typeof score !== 'number') {
    throw failed('a finding has no type, place or score')
  }
  const kind = entity.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_')
  return { kind, start: unitAt(Number(start)), end: unitAt(Number(end)), score }
}

/** Presidio counts code points; a text in JavaScript has two units for some of them. */
function unitsOf(text: string): (point: number) => number {
  if (!/[\ud800-\udbff]/.test(text)) return (point) => point
  const starts: number[] = []
  for (let at = 0; at < text.length; at += text.codePointAt(at)! > 0xffff ? 2 : 1) starts.push(at)
  return (point) => starts[point] ?? text.length
}

function failed(what: string): LamellaError {
  return new LamellaError(`presidio: ${what}`, { code: 'detection_failed' })
}
