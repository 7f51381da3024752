import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ModerationRequest {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Record<string, unknown>
}

/** Reaction of a server: an answer, or none until the client leaves. */
export type ModerationAnswer = { readonly status?: number; readonly body: unknown } | 'hang'

/** A moderation endpoint on loopback. */
export async function startModerationServer(
  answer: (request: ModerationRequest) => ModerationAnswer,
): Promise<{
  readonly url: string
  readonly requests: ModerationRequest[]
  /** Requests whose sender left before there was an answer. */
  readonly left: () => number
  readonly [Symbol.asyncDispose]: () => Promise<void>
}> {
  const requests: ModerationRequest[] = []
  let left = 0
  const server = createServer((incoming, outgoing) => {
    let json = ''
    incoming.setEncoding('utf8').on('data', (chunk: string) => (json += chunk))
    incoming.on('end', () => {
      const request = { url: incoming.url!, headers: incoming.headers, body: JSON.parse(json) }
      requests.push(request)
      outgoing.on('close', () => {
        if (!outgoing.writableFinished) left++
      })
      const made = answer(request)
      if (made === 'hang') return
      const { status = 200, body } = made
      outgoing.writeHead(status, { 'content-type': 'application/json' })
      outgoing.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    left: () => left,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** A result of OpenAI's moderation, in its words, for a text that says how bad it is. */
export function openaiResult(text: string): object {
  const score = /\bkill\b/.test(text) ? 0.93 : 0.01
  return {
    flagged: score > 0.5,
    categories: { violence: score > 0.5, 'self-harm/intent': false },
    category_scores: { violence: score, 'self-harm/intent': 0.2 },
    category_applied_input_types: { violence: ['text'], 'self-harm/intent': ['text'] },
  }
}
