/** Fate of a request whose connection was lost: it never reached a handler, or nobody knows. */
export type Loss = 'unsent' | 'unknown'

/** Codes of system errors by which a request never left. */
const unsentCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'NOT_CONNECTED'])

const lostCodes = new Set([
  'CONNECTION_CLOSED',
  'SEND_FAILED',
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
])

/** Recognizes errors of a lost connection or session, of both versions of the SDK and of `fetch`. */
export function lossOf(error: unknown, depth = 0): Loss | undefined {
  if (!(error instanceof Error) || depth > 4) return undefined
  const { code, message, cause } = error as Error & { readonly code?: unknown }
  if (message === 'Not connected') return 'unsent'
  const status = statusOf(error)
  // The server forgot the session. Some answer 400 where the specification wants 404.
  if (status === 404 || (status === 400 && /session/i.test(message))) return 'unsent'
  if (typeof code === 'string' && unsentCodes.has(code)) return 'unsent'
  if (typeof code === 'string' && lostCodes.has(code)) return lossOf(cause, depth + 1) ?? 'unknown'
  // Version 1 has a number for it, which servers use for errors of their own, too.
  if (code === -32_000 && message.includes('Connection closed')) return 'unknown'
  if (message === 'fetch failed' || message === 'terminated') {
    return lossOf(cause, depth + 1) ?? 'unknown'
  }
  return lossOf(cause, depth + 1)
}

/** The HTTP status that a request was refused with. Version 1 of the SDK has it in `code`. */
export function statusOf(error: unknown): number | undefined {
  const { code, status, data } = error as {
    readonly code?: unknown
    readonly status?: unknown
    readonly data?: { readonly status?: unknown }
  }
  const found = [status, data?.status, code].find((value) => isHttpError(value))
  return found as number | undefined
}

function isHttpError(value: unknown): boolean {
  return typeof value === 'number' && value >= 400 && value < 600
}
