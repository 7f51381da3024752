import type { ClientHarness, ClientScenario } from '@lamella/testing'
import { chatClientContract, describeContract } from '@lamella/testing'
import type { Handler } from '@lamella/testing/raw-server'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { describe, it } from 'vitest'
import type { GoogleRecording } from '../fixtures/google-recording.ts'
import { googleRecording } from '../fixtures/google-recording.ts'
import { GoogleChatClient } from './google-chat-client.ts'

const platforms = {
  'the Gemini API': { apiKey: 'test-key' },
  'Vertex AI': { vertex: { project: 'p', token: async () => 'test-token' } },
}

for (const [platform, options] of Object.entries(platforms)) {
  const create = async (scenario: ClientScenario): Promise<ClientHarness> => {
    let open = 0
    const server = await RawServer.start((response, request) => {
      open++
      response.on('close', () => open--)
      return handler(scenario)(response, request)
    })
    return {
      client: new GoogleChatClient({ ...options, baseURL: server.url, model: 'gemini-3-flash' }),
      openExchanges: () => open,
      repeatsIds: true,
      lastBody: () => JSON.stringify(server.last.body),
      close: () => server.stop(),
    }
  }

  describeContract(chatClientContract({ name: `GoogleChatClient, ${platform}`, create }), {
    describe,
    it,
  })
}

function handler(scenario: ClientScenario): Handler {
  switch (scenario.kind) {
    case 'text':
      return play(googleRecording([{ text: scenario.text }]))
    case 'calls': {
      const parts = scenario.calls.map(({ name, arguments: json }) => ({
        functionCall: { name, args: JSON.parse(json) },
      }))
      return play(googleRecording(parts))
    }
    case 'status': {
      const { status, retryAfterSeconds } = scenario
      const headers =
        retryAfterSeconds === undefined ? {} : { 'retry-after': `${retryAfterSeconds}` }
      return answer({ error: { code: status, message: 'Sorry.' } }, { status, headers })
    }
    default:
      return breakOff(googleRecording([{ text: scenario.text }]).sse, scenario.kind)
  }
}

function play({ whole, sse }: GoogleRecording): Handler {
  return (response, request) =>
    answer(request.path.includes('alt=sse') ? sse : whole)(response, request)
}

function breakOff(sse: string, how: 'cut' | 'ended-early' | 'stalled'): Handler {
  const begun = sse.slice(0, sse.indexOf('\r\n\r\n', sse.indexOf('"The"')) + 4)
  return (response, request) => {
    if (!request.path.includes('alt=sse')) return
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(begun, () => {
      if (how === 'cut') response.destroy()
      if (how === 'ended-early') response.end()
    })
  }
}
