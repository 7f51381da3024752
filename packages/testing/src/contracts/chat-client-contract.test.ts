import type { ProviderErrorKind } from '@lamella/core'
import { ProviderError } from '@lamella/core'
import { describe, expect, it } from 'vitest'
import type { ClientHarness, ClientScenario, ScriptedAnswer } from '../index.ts'
import { callFunction, chatClientContract, describeContract, scriptedClient } from '../index.ts'

const kinds: Record<number, ProviderErrorKind> = {
  400: 'invalid_request',
  401: 'auth',
  404: 'not_found',
  429: 'rate_limit',
  500: 'server',
  503: 'overloaded',
}

function failure(kind: ProviderErrorKind, status?: number, afterMs?: number): ProviderError {
  const retry = afterMs === undefined ? {} : { afterMs }
  return new ProviderError('as scripted', { kind, provider: 'scripted', status, retry })
}

function answerOf(scenario: ClientScenario): ScriptedAnswer {
  switch (scenario.kind) {
    case 'text':
      return () => scenario.text
    case 'calls':
      return () => scenario.calls.map((call) => callFunction(call.name, call.arguments))
    case 'status': {
      const { status, retryAfterSeconds } = scenario
      const afterMs = retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000
      return () => failure(kinds[status]!, status, afterMs)
    }
    case 'stalled':
      return () => ({ updates: [scenario.text.slice(0, 9)], hang: true })
    default:
      return () => ({ updates: [scenario.text.slice(0, 9)], error: failure('truncated_stream') })
  }
}

function create(scenario: ClientScenario): ClientHarness {
  const client = scriptedClient(answerOf(scenario))
  return { client, openExchanges: () => client.openStreams }
}

describeContract(chatClientContract({ name: 'a scripted client', create }), { describe, it })

describe('the chat client contract', () => {
  const failing = async (replace: (harness: ClientHarness) => void): Promise<readonly string[]> => {
    const suite = chatClientContract({
      create: (scenario) => {
        const harness = create(scenario)
        replace(harness)
        return harness
      },
      promptMs: 20,
    })
    const failed: string[] = []
    for (const check of suite.checks) await check.run().catch(() => failed.push(check.name))
    return failed
  }

  it.for<[string, (harness: ClientHarness) => void, string]>([
    [
      'does not stream',
      ({ client }) => {
        client.stream = async function* (request) {
          const { text, usage, finishReason, model } = await client.respond(request)
          yield { contents: [{ type: 'text', text }], usage, finishReason, model }
        }
      },
      'streams the same answer in pieces',
    ],
    [
      'ends a cut stream as if all were well',
      ({ client }) => {
        const stream = client.stream.bind(client)
        client.stream = async function* (request) {
          try {
            yield* stream(request)
          } catch {
            yield { contents: [], finishReason: 'stop' }
          }
        }
      },
      'fails if a stream is cut',
    ],
    [
      'is deaf to the signal',
      ({ client }) => {
        const respond = client.respond.bind(client)
        const { signal } = new AbortController()
        client.respond = (request) => respond({ ...request, signal })
      },
      'settles at once when a call is aborted',
    ],
    [
      'lets plain errors out',
      ({ client }) => {
        client.respond = () => Promise.reject(new Error('429'))
      },
      'maps status 429 to a ProviderError',
    ],
    [
      'leaves exchanges open',
      (harness) => {
        harness.openExchanges = () => 1
      },
      'closes the exchange when the reader leaves',
    ],
  ])('catches a client that %s', async ([, replace, name]) => {
    expect(await failing(replace)).toContain(name)
  })

  it('leaves out what it is told to, and nothing that it does not know', () => {
    const all = chatClientContract({ create }).checks.map(({ name }) => name)
    const some = chatClientContract({ create, except: [all[0]!] }).checks.map(({ name }) => name)

    expect(some).toEqual(all.slice(1))
    expect(() => chatClientContract({ create, except: ['x'] })).toThrow('names no check: "x"')
  })
})
