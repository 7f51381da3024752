import { expect, test } from 'vitest'
import { googleSse } from '../../packages/google/fixtures/google-recording.ts'
import { Agent } from '../../packages/core/src/index.ts'
import { contentFilter } from '../../packages/guardrail-content/src/index.ts'
import { GoogleChatClient } from '../../packages/google/src/index.ts'
import { runIn, runModes } from '../../packages/testing/src/index.ts'

// What Google's filters block ends a run as any other guardrail does.

const ratings = [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'HIGH', blocked: true }]
const said = { content: { parts: [{ text: 'A secret insult.' }] } }
const blocks = [
  ['a prompt', 'input', { promptFeedback: { blockReason: 'SAFETY', safetyRatings: ratings } }],
  [
    'an answer',
    'output',
    { candidates: [{ ...said, finishReason: 'SAFETY', safetyRatings: ratings }] },
  ],
] as const
const cases = blocks.flatMap((block) => runModes.map((mode) => [...block, mode] as const))

test.each(cases)(
  '%s that is blocked at stage %s blocks the run: %j, %s',
  async (_name, stage, body, mode) => {
    const client = new GoogleChatClient({
      apiKey: 'test-key',
      model: 'gemini-3-flash',
      fetch: async (url) =>
        new Request(url).url.includes('alt=sse')
          ? new Response(googleSse([body]))
          : Response.json(body),
    })
    const agent = new Agent({ client, middleware: contentFilter() })

    const response = await runIn(mode, agent)

    expect(response.status).toBe('blocked')
    expect(response.block).toMatchObject({
      guardrail: 'content-provider',
      stage,
      category: 'harassment',
    })
    expect(JSON.stringify(response)).not.toContain('A secret insult.')
  },
)
