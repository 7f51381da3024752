import type { Message } from '@lamella/core'
import { message } from '@lamella/core'
import type { ContractCheck } from './contract-suite.ts'
import type { ClientCheck } from './client-check.ts'
import { request } from './client-check.ts'
import { demand } from './contract-assertions.ts'

/** Checks the history that a client sends. */
export function clientHistoryChecks(check: ClientCheck): readonly ContractCheck[] {
  return [
    check('sends calls and their results back once', call, async (client, harness) => {
      if (harness.lastBody === undefined) return
      const { signal, messages, ...rest } = request()
      const { messages: said, functionCalls } = await client.respond({ ...rest, messages, signal })
      const results = functionCalls.map(({ callId, name }, at) => ({
        type: 'function-result' as const,
        callId,
        name,
        contents: [{ type: 'text' as const, text: `found ${things[at]!}` }],
      }))
      const history = [...messages, ...said, message('tool', results)]

      await client.respond({ ...rest, messages: history, signal })

      const body = harness.lastBody()
      const order = ['Hello', ...things, ...things.map((thing) => `found ${thing}`)]
      for (const words of order) {
        // A result names its thing, too.
        const times = things.includes(words) ? 2 : 1
        const got = body.split(words).length - 1
        demand(got === times, `the next request must hold "${words}" ${times} times, got ${got}`)
      }
    }),

    check('sends opaque data only to its own provider', call, async (client, harness) => {
      if (harness.lastBody === undefined) return
      const { signal, ...rest } = request()

      await client.respond({ ...rest, messages: ofAnother, signal })

      const body = harness.lastBody()
      demand(body.includes('I thought about it.'), 'the next request must hold what was said')
      demand(!body.includes(seal), 'the next request must not hold what another provider sealed')
    }),
  ]
}

const things = ['the quick brown fox', 'the lazy dog']
const call = {
  kind: 'calls',
  calls: things.map((query) => ({ name: 'look_up', arguments: JSON.stringify({ query }) })),
} as const
const seal = 'sealed-by-another-provider'
const origin = { provider: 'another-provider', model: 'another-model' }

const ofAnother: readonly Message[] = [
  message('user', 'Hello'),
  message('assistant', [
    { type: 'reasoning', text: '', protected: seal, origin },
    { type: 'text', text: 'I thought about it.', origin, providerData: { signature: seal } },
    { type: 'hosted', name: 'search', id: seal, data: { id: seal }, origin },
  ]),
  message('user', 'And now?'),
]
