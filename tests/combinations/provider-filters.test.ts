import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  promptChunk,
  safe,
  sse,
} from '../../packages/azure-openai/fixtures/azure-recordings.ts'
import { answer, RawServer } from '../../packages/testing/src/raw-server.ts'
import { AzureOpenAIChatClient } from '../../packages/azure-openai/src/index.ts'
import { Agent } from '../../packages/core/src/index.ts'
import { contentFilter } from '../../packages/guardrail-content/src/index.ts'

// What Azure's own filter says, on the wire, is a verdict of the content filter.

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

const violent = { ...safe, violence: { filtered: true, severity: 'medium' } }

function agent(): Agent {
  const client = new AzureOpenAIChatClient({
    api: 'chat',
    endpoint: server.url,
    apiKey: 'k',
    deployment: 'd',
  })
  return new Agent({ client, middleware: contentFilter({ words: ['swordfish'] }) })
}

const refused = {
  error: {
    code: 'content_filter',
    status: 400,
    message:
      'The response was filtered due to the prompt triggering the content management policy.',
    innererror: {
      code: 'ResponsibleAIPolicyViolation',
      content_filter_result: { ...safe, jailbreak: { filtered: true, detected: true } },
    },
  },
}

describe.each([false, true])('streamed: %s', (stream) => {
  const run = () => (stream ? agent().run('Hi', { stream }).finalResponse() : agent().run('Hi'))

  test('a prompt that Azure refuses is a blocked run with the category', async () => {
    server.handler = answer(refused, { status: 400 })

    const response = await run()

    expect(response.block).toMatchObject({
      guardrail: 'content-provider',
      stage: 'input',
      category: 'jailbreak',
    })
  })

  test('an answer that Azure cuts is one too, and nothing of it stays', async () => {
    const cut = { finish_reason: 'content_filter', content_filter_results: violent }
    const said = { role: 'assistant', content: 'First you' }
    const chunks = [promptChunk(), chunk(said), chunk({}, cut)]
    server.handler = stream
      ? answer(sse(chunks), { headers: { 'content-type': 'text/event-stream' } })
      : answer(completion({ message: said, ...cut }))

    const response = await run()

    expect(response.block).toMatchObject({ stage: 'output', category: 'violence' })
    expect(JSON.stringify(response)).not.toContain('First you')
  })
})
