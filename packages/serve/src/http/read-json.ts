import { callLater, systemClock } from '@lamella/core/authoring'
import { HttpFailure } from './http-failure.ts'

/** Limits of a request's body. */
export interface BodyLimits {
  readonly maxBodyBytes: number
  readonly bodyTimeoutMs: number
}

/**
 * Reads a JSON body within its limits. The content type must be JSON: a page of another site cannot
 * send that without being asked for permission first.
 */
export async function readJson(request: Request, limits: BodyLimits): Promise<unknown> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json\s*(?:;|$)/i.test(type.trim())) {
    throw new HttpFailure('the content type must be application/json', {
      status: 415,
      code: 'unsupported_media_type',
    })
  }
  const text = await readText(request, limits)
  if (isDeep(text)) throw invalidInput(`the body is nested deeper than ${mostDepth} levels`)
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw invalidInput('the body is not JSON')
  }
}

export function invalidInput(problem: string): HttpFailure {
  return new HttpFailure(problem, { status: 400, code: 'invalid_input' })
}

async function readText(
  { headers, body, signal }: Request,
  { maxBodyBytes, bodyTimeoutMs }: BodyLimits,
): Promise<string> {
  if (Number(headers.get('content-length') ?? 0) > maxBodyBytes) throw tooLarge(maxBodyBytes)
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let stopTimer: (() => void) | undefined
  const late = new Promise<never>((_, reject) => {
    const slow = { status: 408, code: 'body_timeout' } as const
    stopTimer = callLater(systemClock, bodyTimeoutMs, () => {
      reject(new HttpFailure(`the body took more than ${bodyTimeoutMs} ms`, slow))
      reader.cancel().catch(() => undefined)
    })
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
  let text = ''
  let bytes = 0
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop
      const { done, value } = await Promise.race([reader.read(), late])
      if (done) return text + decoder.decode()
      bytes += value.byteLength
      if (bytes > maxBodyBytes) throw tooLarge(maxBodyBytes)
      text += decoder.decode(value, { stream: true })
    }
  } catch (error) {
    if (error instanceof HttpFailure) throw error
    // The client has left, or its connection has broken.
    const broken = { status: 400, code: 'body_incomplete', cause: error } as const
    throw new HttpFailure('the body ended before it was complete', broken)
  } finally {
    stopTimer?.()
    reader.releaseLock()
  }
}

/** Nothing a chat needs is deeper. What is written again later recurses, unlike what is parsed. */
const mostDepth = 100

function isDeep(text: string): boolean {
  let depth = 0
  let isText = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '"') isText = !isText
    else if (isText && char === '\\') at++
    else if (!isText && (char === '[' || char === '{')) depth++
    else if (!isText && (char === ']' || char === '}')) depth--
    if (depth > mostDepth) return true
  }
  return false
}

function tooLarge(maxBodyBytes: number): HttpFailure {
  const message = `the body has more than ${maxBodyBytes} bytes`
  return new HttpFailure(message, { status: 413, code: 'body_too_large' })
}
