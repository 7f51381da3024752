import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { Agent, tool } from '@lamella/core'
import type { ClientHarness, ClientScenario } from '@lamella/testing'
import { chatClientContract, describeContract } from '@lamella/testing'
import { YourChatClient } from './index.ts'

interface WireBody {
  readonly model: string
  readonly stream: boolean
  readonly messages: readonly { readonly results: unknown }[]
}

const usage = { input: 3, output: 5 }

/** A provider that plays a scenario, over a real socket. */
async function inFrontOf(
  respond: (answer: ServerResponse, body: WireBody) => void,
): Promise<ClientHarness> {
  let open = 0
  let lastModel: string | undefined
  let lastBody = ''
  const server = createServer((request, answer) => {
    open++
    answer.on('close', () => open--)
    void text(request).then((body) => {
      const sent = JSON.parse(body) as WireBody
      lastModel = sent.model
      lastBody = body
      respond(answer, sent)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    client: new YourChatClient({ model: 'one', baseURL: `http://127.0.0.1:${port}` }),
    openExchanges: () => open,
    lastModel: () => lastModel,
    lastBody: () => lastBody,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const line = (value: object) => `${JSON.stringify(value)}\n`

function play(scenario: ClientScenario) {
  return (answer: ServerResponse, { stream }: WireBody): void => {
    switch (scenario.kind) {
      case 'text': {
        const words = scenario.text
        if (stream)
          for (const piece of [words.slice(0, 3), words.slice(3)])
            answer.write(line({ text: piece }))
        answer.end(line({ ...(stream ? {} : { text: words }), done: true, usage }))
        return
      }
      case 'calls': {
        const calls = scenario.calls.map((call, at) => ({ id: `call_${at}`, ...call }))
        answer.end(line({ calls, done: true, usage }))
        return
      }
      case 'status': {
        const { status, retryAfterSeconds } = scenario
        const headers =
          retryAfterSeconds === undefined ? {} : { 'retry-after': `${retryAfterSeconds}` }
        answer.writeHead(status, headers).end('{"error":"Sorry."}')
        return
      }
      case 'cut':
        answer.write(line({ text: scenario.text }))
        setTimeout(() => answer.destroy(), 10)
        return
      case 'ended-early':
        answer.end(line({ text: scenario.text }))
        return
      case 'stalled':
        if (stream) answer.write(line({ text: scenario.text }))
    }
  }
}

// The contract of every client: errors are ProviderErrors, aborts settle at once, a cut stream fails …
describeContract(chatClientContract({ create: (scenario) => inFrontOf(play(scenario)) }), {
  describe,
  it,
})

describe('YourChatClient', () => {
  it('carries a tool round through an agent', async () => {
    const bodies: WireBody[] = []
    const harness = await inFrontOf((answer, body) => {
      bodies.push(body)
      const calls = [{ id: 'c1', name: 'now', arguments: '{}' }]
      answer.end(line(bodies.length === 1 ? { calls, done: true } : { text: 'Noon.', done: true }))
    })
    const now = tool({ name: 'now', description: 'The time.', execute: () => '12:00' })

    const response = await new Agent({ client: harness.client, tools: [now] }).run(
      'What time is it?',
    )
    await harness.close?.()

    assert.equal(response.text, 'Noon.')
    assert.deepEqual(bodies[1]?.messages.at(-1)?.results, [{ id: 'c1', text: '12:00' }])
  })
})
