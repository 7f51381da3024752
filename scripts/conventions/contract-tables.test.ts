import { readFileSync } from 'node:fs'
import { chatMiddleware, memoryStore } from '../../packages/core/src/index.ts'
import { guardrail } from '../../packages/guardrail/src/index.ts'
import type { ContractSuite } from '../../packages/testing/src/index.ts'
import {
  chatClientContract,
  guardrailContract,
  middlewareContract,
  scriptedClient,
  storeContract,
} from '../../packages/testing/src/index.ts'
import { completionsContract, messagesContract } from '../../packages/testing/src/model-server.ts'
import { expect, test } from 'vitest'

const readme = readFileSync('packages/testing/README.md', 'utf8')

const suites: Record<string, ContractSuite> = {
  middlewareContract: middlewareContract({
    create: () => chatMiddleware('pass', (_, callNext) => callNext()),
    createWithLimit: () => [],
  }),
  guardrailContract: guardrailContract({
    create: () =>
      guardrail({ name: 'pass', applyTo: ['output'], check: () => ({ action: 'allow' }) }),
    createWithLimit: () => [],
    harmless: [],
    violations: [
      { stage: 'output', text: 'bad', action: 'block', forbidden: 'bad' },
      { stage: 'arguments', text: 'bad', action: 'replace' },
    ],
  }),
  chatClientContract: chatClientContract({
    create: () => ({ client: scriptedClient([]), openExchanges: () => 0 }),
  }),
  completionsContract: completionsContract({ create: () => scriptedClient([]) }),
  messagesContract: messagesContract({ create: () => scriptedClient([]) }),
  storeContract: storeContract({ create: () => ({ store: memoryStore() }) }),
}

test.each(Object.entries(suites))(
  'the table of %s names its checks, and no other',
  (name, suite) => {
    const [, table = ''] =
      new RegExp(`^<!-- checks ${name} -->\\n\\n((?:\\|.*\\n)+)`, 'm').exec(readme) ?? []
    const rows = table.split('\n').slice(2)
    const told = rows.flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, check = '']) => check),
    )

    expect(new Set(told)).toEqual(new Set(suite.checks.map((check) => withoutPlace(check.name))))
    expect(told).toHaveLength(new Set(told).size)
  },
)

/** The name of a check, less the level or stage in front, the mode behind, and what it counts. */
function withoutPlace(name: string): string {
  return name
    .replace(/^\w+: /, '')
    .replace(/, (plain|streamed)$/, '')
    .replace(/\b(violation|status) \d+/, '$1 n')
    .replaceAll('`', '')
}
