import type { Tool } from '@lamella/core'
import { Agent, jsonSchema, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { toolPolicy } from '../tool-policy.ts'
import { fingerprint, fingerprints } from './tool-fingerprint.ts'

/** A tool with every field, and another value for each of them. */
const full: Required<Tool> = {
  type: 'function',
  name: 'pay',
  description: 'Pays.',
  jsonSchema: { type: 'object', properties: { cents: { type: 'number' } } },
  parameters: jsonSchema({ type: 'object', properties: { cents: { type: 'number' } } }),
  execute: () => 'paid',
  approval: 'always',
  timeoutMs: 5,
  returnDirect: false,
  idempotent: false,
  readOnly: false,
  exclusive: false,
  publicProgress: false,
  resumable: false,
  metadata: { mcp: { server: 'bank', annotations: { destructiveHint: true } } },
  aliases: ['send_money'],
  argumentAliases: { amount: 'cents' },
}
const others: Omit<Required<Tool>, 'execute'> & { readonly execute: undefined } = {
  type: 'hosted' as 'function',
  name: 'Pay',
  description: 'Pays twice.',
  jsonSchema: { type: 'object', properties: { cents: { type: 'string' } } },
  parameters: jsonSchema({ type: 'object', properties: {} }),
  execute: undefined,
  approval: 'never',
  timeoutMs: 6,
  returnDirect: true,
  idempotent: true,
  readOnly: true,
  exclusive: true,
  publicProgress: true,
  resumable: true,
  metadata: { mcp: { server: 'bank', annotations: { destructiveHint: false } } },
  aliases: [],
  argumentAliases: { amount: 'euros' },
}

test('no field is forgotten here', () => {
  // Only the tool of a sub-agent has it.
  const { resumable: _, ...options } = full
  const made = tool(options as Parameters<typeof tool>[0])

  expect(Object.keys(made).filter((key) => !Object.hasOwn(full, key))).toEqual([])
})

test.each(Object.keys(full) as (keyof Tool)[])('sees a change of %s', async (field) => {
  expect(await fingerprint({ ...full, [field]: others[field] })).not.toBe(await fingerprint(full))
})

test.each([
  ['an approval function', { approval: () => true }],
  ['a schema of a library', { parameters: z.object({}) as never }],
  ['no metadata', { metadata: undefined }],
])('sees %s', async (_, change) => {
  expect(await fingerprint({ ...full, ...change })).not.toBe(await fingerprint(full))
})

test('is the same for an equal definition', async () => {
  const again = { ...full, execute: () => 'other code', metadata: structuredClone(full.metadata) }

  expect(await fingerprint(again)).toBe(await fingerprint(full))
})

test('reads metadata that is no JSON', async () => {
  const cycle: Record<string, unknown> = { size: 1n, map: new Map(), code: () => 1 }
  cycle['self'] = cycle

  expect(await fingerprint({ ...full, metadata: cycle })).toMatch(/^[0-9a-f]{64}$/)
})

test('of a pinned tool keeps what turned readOnly from running without a person', async () => {
  const done: string[] = []
  const make = (readOnly: boolean) =>
    tool({ name: 'pay', description: 'Pays.', readOnly, execute: () => void done.push('paid') })
  const agent = new Agent({
    client: scriptedClient([callFunction('pay'), 'Done.']),
    tools: [make(true)],
    middleware: toolPolicy({ pinned: await fingerprints([make(false)]) }),
  })

  await agent.run('Pay.')

  expect(done).toEqual([])
})
