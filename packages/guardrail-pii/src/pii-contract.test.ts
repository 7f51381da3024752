import { memoryStore } from '@lamella/core'
import {
  assertSealed,
  describeContract,
  guardrailContract,
  middlewareContract,
} from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { PiiOptions } from './index.ts'
import { pii } from './index.ts'

const forbidden = 'ann@example.com'
const text = `Please write to ${forbidden} today.`
const stages = ['input', 'output', 'arguments', 'result'] as const
const harmless = ['The quick brown fox.', 'Version 1.2.3.4 of 2024-01-15', '12 apples & 7 pears 🍐']

describeContract(
  middlewareContract({ name: 'pii()', create: () => pii(), texts: [text, 'Call +1 415 555 0132'] }),
  { describe, it },
)
describeContract(
  middlewareContract({
    name: 'pii() with a vault',
    create: () => pii({ vault: true }),
    createWithLimit: (ms) =>
      pii({
        vault: { store: memoryStore(), ttlMs: ms, storeTimeoutMs: ms },
        detect: async () => [],
        timeoutMs: ms,
        maxScanMs: ms,
      }),
    texts: [text],
  }),
  { describe, it },
)
describeContract(
  guardrailContract({
    name: 'pii() that redacts',
    create: () => pii(),
    harmless,
    violations: stages.map((stage) => ({ stage, text, forbidden, action: 'replace' })),
  }),
  { describe, it },
)
describeContract(
  guardrailContract({
    name: 'pii() that blocks',
    create: () => pii({ strategy: 'block' }),
    harmless,
    violations: stages.map((stage) => ({ stage, text, forbidden, action: 'block' })),
  }),
  { describe, it },
)

describe('every kind is sealed, however an answer is cut', () => {
  it.for([
    'ann@example.com',
    '+44 20 7946 0958',
    '(415) 555-0132 x12',
    '5555 5555 5555 4444',
    'GB29 NWBK 6016 1331 9268 19',
    '219-09-9999',
    '2001:db8::17',
    '3c:22:fb:9a:11:07',
    'AKIAQ3EGRIBNZ7TAK2XY',
    '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----',
  ])('%s', async (value) => {
    const told = `Here it is: ${value} and no more.`
    const strategies: readonly PiiOptions['strategy'][] = [
      'redact',
      'block',
      'hash',
      'pseudonymize',
    ]
    for (const strategy of strategies) {
      const sealed = assertSealed(() => pii({ strategy, key: 'sixteen characters' }), {
        text: told,
        forbidden: value,
        action: strategy === 'block' ? 'block' : 'replace',
        randomCuts: 4,
      })

      await expect(sealed).resolves.toBeUndefined()
    }
  })
})
