import { foldUpdates } from '@lamella/core'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { clientRequest, collect } from '@lamella/testing'
import { withProviderIds } from '../../../../tests/provider-harness/provider-ids.ts'
import { messagesRecording } from '../../fixtures/messages-recording.ts'
import { AnthropicChatClient } from '../anthropic-chat-client.ts'

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const block = fc.oneof(
  fc.record({
    type: fc.constant('text'),
    text: words,
    citations: fc.option(fc.array(fc.record({ type: fc.constant('cited'), cited_text: words }))),
  }),
  fc.record({ type: fc.constant('thinking'), thinking: words, signature: words }),
  fc.record({ type: fc.constant('redacted_thinking'), data: words }),
  fc.record({
    type: fc.constant('tool_use'),
    name: fc.constantFrom('add', 'clock'),
    input: fc.dictionary(words, fc.integer(), { maxKeys: 2 }),
  }),
  fc.record({
    type: fc.constant('server_tool_use'),
    name: fc.constant('web_search'),
    input: fc.dictionary(words, fc.integer(), { maxKeys: 2 }),
  }),
)

test('whatever an answer holds and however it is cut, streamed it is the same as whole', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(block, { maxLength: 5 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 90 }),
      fc.boolean(),
      async (blocks, size, step, isInterleaved) => {
        const content = blocks.map((each, at) =>
          'name' in each ? { ...each, id: `id_${at}` } : each,
        )
        const { whole, sse } = messagesRecording(content, { size, isInterleaved })

        const answered = await clientOf(() => Response.json(whole)).respond(clientRequest())
        const { raw: _, ...plain } = withProviderIds(answered)
        const streamed = await collect(clientOf(() => inSteps(sse, step)).stream(clientRequest()))

        expect(withProviderIds(foldUpdates(streamed))).toEqual(plain)
      },
    ),
  )
})

function clientOf(answer: () => Response): AnthropicChatClient {
  return new AnthropicChatClient({ apiKey: 'k', model: 'm', fetch: async () => answer() })
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
