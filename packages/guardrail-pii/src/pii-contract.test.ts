import { describeContract, guardContract, middlewareContract } from '@lamella/testing'
import { describe, it } from 'vitest'
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
    texts: [text],
  }),
  { describe, it },
)
describeContract(
  guardContract({
    name: 'pii() that redacts',
    create: () => pii(),
    harmless,
    violations: stages.map((stage) => ({ stage, text, forbidden, action: 'replace' })),
  }),
  { describe, it },
)
describeContract(
  guardContract({
    name: 'pii() that blocks',
    create: () => pii({ strategy: 'block' }),
    harmless,
    violations: stages.map((stage) => ({ stage, text, forbidden, action: 'block' })),
  }),
  { describe, it },
)
