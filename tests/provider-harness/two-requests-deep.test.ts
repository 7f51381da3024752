import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AnthropicChatClient } from '../../packages/anthropic/src/index.ts'
import type { ChatClient, Content, MessageInit } from '../../packages/core/src/index.ts'
import { foldUpdates } from '../../packages/core/src/index.ts'
import { OpenAIChatClient, OpenAIChatCompletionsClient } from '../../packages/openai/src/index.ts'
import { clientRequest, collect } from '../../packages/testing/src/index.ts'
import { RawServer } from '../../packages/testing/src/raw-server.ts'
import type { Cassette } from './cassettes.ts'
import { readCassettes } from './cassettes.ts'
import { requestBlocks } from './request-blocks.ts'

// The answer to the first request, kept as JSON, then the next request, compared with the one that was
// recorded and accepted.

/** Recordings whose second request is no continuation of the first answer. */
const notContinued: Readonly<Record<string, string>> = {
  'modified-history': 'the application put other words into the mouth of the model',
  'tool-use-failed-error': 'the first answer is an error',
}

interface Exchange extends Cassette<unknown> {
  readonly conversation?: string
  readonly request: { readonly body: Readonly<Record<string, unknown>> } | null
}

const pairs = pairsOf(readCassettes<unknown>() as unknown as readonly Exchange[])
if (pairs.length === 0) {
  console.warn(
    'SKIPPED: the recordings are not beside this checkout, no second request is compared',
  )
}

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

describe.skipIf(pairs.length === 0)('the second request', () => {
  test.for(pairs.map(([first, second]) => ({ id: second.id, first, second })))(
    '$id holds what the recorded one holds',
    async ({ first, second }) => {
      const recorded = newBlocks(first, second).map(masked)
      const client = open(first.api, String(first.request!.body['model']))
      play(first)
      const response = first.stream
        ? foldUpdates(await collect(client.stream(clientRequest('The question.'))))
        : await client.respond(clientRequest('The question.'))
      const kept = JSON.parse(JSON.stringify(response.messages)) as MessageInit[]
      const results = recorded.filter((block) => block.startsWith('result '))
      const contents = response.functionCalls.map(
        ({ callId }, at): Content => ({
          type: 'function-result',
          callId,
          contents: [{ type: 'text', text: (results[at] ?? '').replace(/^result \d+ /, '') }],
        }),
      )
      const question: MessageInit = {
        role: 'user',
        contents: [{ type: 'text', text: 'The question.' }],
      }
      // Where the model called no tool, the user has asked again.
      const said = (recorded.at(-1) ?? '').replace(/^text /, '')
      const told: MessageInit =
        contents.length > 0
          ? { role: 'tool', contents }
          : { role: 'user', contents: [{ type: 'text', text: said }] }

      await client.respond(clientRequest([question, ...kept, told])).catch(() => undefined)

      const sent = requestBlocks(server.last.body).map(masked)
      expect(sent).toEqual(recorded.slice(0, sent.length))
      expect(sent.length).toBeGreaterThan(0)
    },
  )
})

/** Exchanges of one conversation, each with the one that continues it. */
function pairsOf(exchanges: readonly Exchange[]): (readonly [Exchange, Exchange])[] {
  const byId = new Map(exchanges.map((exchange) => [exchange.id, exchange]))
  return exchanges.flatMap((first) => {
    const [, stem, turn] = /^(.*-t)(\d+)$/.exec(first.id) ?? []
    const second = byId.get(`${stem}${Number(turn) + 1}`)
    if (Object.keys(notContinued).some((name) => first.id.includes(name))) return []
    if (second?.request == null || first.request === null || first.response.status !== 200)
      return []
    return newBlocks(first, second).length > 0 ? [[first, second] as const] : []
  })
}

/** Who recorded the traffic took the passwords out of the requests. */
function masked(block: string): string {
  return block.replaceAll(/"password":"[^"]*"/g, '"password":"REDACTED"')
}

/** Returns the blocks that only the second request has. Empty where it does not begin like the first. */
function newBlocks(first: Exchange, second: Exchange): readonly string[] {
  const before = requestBlocks(first.request!.body)
  const after = requestBlocks(second.request!.body)
  const isContinued = before.every((block, at) => block === after[at])
  return isContinued && before.length === 0 ? after : []
}

function play({ response: { status, headers, body } }: Exchange): void {
  server.handler = (response) => {
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
    response.end(body)
  }
}

function open(api: string, model: string): ChatClient {
  const apiKey = 'test-key'
  if (api.startsWith('anthropic')) {
    return new AnthropicChatClient({ apiKey, model, baseURL: server.url })
  }
  const Client = api.endsWith('responses') ? OpenAIChatClient : OpenAIChatCompletionsClient
  return new Client({ apiKey, model, baseURL: server.baseURL })
}
