import { moderationFailed } from './moderator.ts'

/** Sends and reads JSON. Errors name the status, never the content of request or answer. */
export async function postJson(
  moderator: string,
  send: typeof fetch,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  let response: Response
  try {
    response = await send(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal,
    })
  } catch (error) {
    signal.throwIfAborted()
    throw moderationFailed(moderator, 'no connection', error)
  }
  if (!response.ok) {
    await response.body?.cancel()
    throw moderationFailed(moderator, `status ${response.status}`)
  }
  try {
    return await response.json()
  } catch {
    signal.throwIfAborted()
    throw moderationFailed(moderator, 'the answer is no JSON')
  }
}

/** Joins a base address, with or without a slash at the end, and a path. */
export function addressOf(base: string, path: string): string {
  return base.endsWith('/') ? base + path : `${base}/${path}`
}

/** Returns the value if it is an object, otherwise an empty object. */
export function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** A key, or a function that returns one for each request. */
export type Credential = string | (() => string | Promise<string>)

/** Resolves to the current key. */
export async function credentialOf(credential: Credential): Promise<string> {
  return typeof credential === 'string' ? credential : credential()
}
