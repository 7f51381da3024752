import { moderationFailed } from './moderator.ts'

/** Sends and reads JSON. What fails says the status, and never what was sent or answered. */
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

/** The address of a path under a base that may or may not end with a slash. */
export function addressOf(base: string, path: string): string {
  return base.endsWith('/') ? base + path : `${base}/${path}`
}

/** A value that is an object, else an empty one. */
export function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** A key, or what it takes to get one each time. */
export type Credential = string | (() => string | Promise<string>)

/** The key as it is now. */
export async function credentialOf(credential: Credential): Promise<string> {
  return typeof credential === 'string' ? credential : credential()
}
