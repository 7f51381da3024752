import type { ChatResponse } from '@lamella/core'
import { foldUpdates } from '@lamella/core'
import { clientRequest, collect } from '@lamella/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { googleRecording } from '../../fixtures/google-recording.ts'
import { GoogleChatClient } from '../google-chat-client.ts'

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const signature = fc.option(fc.base64String({ minLength: 4, maxLength: 8 }), { nil: undefined })
const args = fc.dictionary(words, fc.integer(), { maxKeys: 2 })
const part = fc.oneof(
  fc.record({ text: words, thoughtSignature: signature }),
  fc.record({ text: words, thought: fc.constant(true), thoughtSignature: signature }),
  fc.record({
    functionCall: fc.record({ name: fc.constantFrom('add', 'clock'), args }),
    thoughtSignature: signature,
  }),
  fc.record({
    inlineData: fc.record({ mimeType: fc.constant('image/png'), data: fc.base64String() }),
  }),
  fc.record({ executableCode: fc.record({ language: fc.constant('PYTHON'), code: words }) }),
)

test('whatever an answer holds and however it is cut, streamed it is the same as whole', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 5 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 90 }),
      async (parts, size, step) => {
        const { whole, sse } = googleRecording(asJson(parts), { size })

        const { raw: _, ...plain } = await clientOf(() => Response.json(whole)).respond(
          clientRequest(),
        )
        const streamed = await collect(clientOf(() => inSteps(sse, step)).stream(clientRequest()))

        expect(withoutIds(foldUpdates(streamed))).toEqual(withoutIds(plain))
      },
    ),
  )
})

test('a stream that is cut anywhere before its end is never a complete answer', async () => {
  const { sse } = googleRecording([
    { text: 'Hm.', thought: true, thoughtSignature: 'c2ln' },
    { text: 'Hello there.' },
    { functionCall: { name: 'add', args: { a: 1 } } },
  ])
  const end = sse.lastIndexOf('data: ')

  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: end }), async (cut) => {
      const client = clientOf(() => inSteps(sse.slice(0, cut), 64))

      const read = collect(client.stream(clientRequest()))

      await expect(read).rejects.toMatchObject({
        kind: expect.stringMatching(/^(truncated_stream|server)$/),
      })
    }),
  )
})

/** As it is sent: without what is undefined. */
function asJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value))
}

/** Calls without an id get one of their own in each answer. */
function withoutIds(response: ChatResponse): unknown {
  const { messages } = response
  return {
    ...response,
    functionCalls: [],
    messages: messages.map(({ contents, ...message }) => ({
      ...message,
      contents: contents.map((content) =>
        content.type === 'function-call' ? { ...content, callId: '' } : content,
      ),
    })),
  }
}

function clientOf(answer: () => Response): GoogleChatClient {
  return new GoogleChatClient({ apiKey: 'k', model: 'm', fetch: async () => answer() })
}

function inSteps(text: string, step: number): Response {
  const bytes = new TextEncoder().encode(text)
  let at = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) controller.close()
      else controller.enqueue(bytes.subarray(at, (at += step)))
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
