import { Agent } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { run } from './guardrail-check.test-helper.ts'
import type { Check } from './guardrail-check.test-helper.ts'
import { guardrail } from './guardrail.ts'

const lines: unknown[] = []
beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation((line) => void lines.push(line)))
afterEach(() => {
  vi.restoreAllMocks()
  lines.length = 0
})

const failing = (error: unknown): Check => {
  return () => {
    throw error
  }
}
const reasons: readonly [string, Check, string][] = [
  [
    'throws',
    failing(new TypeError('text.contains is no function')),
    'TypeError: text.contains is no function',
  ],
  [
    'rejects',
    async () => Promise.reject(new Error('the judge\nis ill')),
    'Error: the judge is ill',
  ],
  ['throws no error', failing('ill'), '_OTHER'],
  [
    'returns true',
    () => true as never,
    'TypeError: guardrail "g": `check` returned true; return { action }, with one of allow, flag, block, replace, retry, unsupported',
  ],
  [
    'returns another action',
    () => ({ action: 'deny' }) as never,
    'TypeError: guardrail "g": `check` returned the action "deny"; return { action }, with one of allow, flag, block, replace, retry, unsupported',
  ],
  [
    'returns a text',
    ({ text }) => text as never,
    'TypeError: guardrail "g": `check` returned a text; return { action }, with one of allow, flag, block, replace, retry, unsupported',
  ],
]

describe('a guardrail that fails', () => {
  test.each(reasons)(
    'says why in the event and on the console: it %s',
    async (_, check, reason) => {
      const { response, events } = await run({ check }, 'my question')

      expect(response.block).toMatchObject({ category: 'guardrail_error', message: '' })
      expect(events).toMatchObject([{ data: { status: 'error', reason } }])
      expect(lines).toEqual([`guardrail "g" failed: ${reason}`])
    },
  )

  test('does not quote the text that it judged', async () => {
    const check: Check = ({ text }) => JSON.parse(text)

    const { response, events } = await run({ check }, 'the number of Ada is 4111 1111')

    expect(events).toMatchObject([
      { data: { reason: 'SyntaxError (its message quotes the text)' } },
    ])
    expect(JSON.stringify([response, events, lines])).not.toContain('the number')
  })

  test.each([
    ['Node', 'Unexpected token \'t\', "the number"... is not valid JSON'],
    ['Bun', 'JSON Parse error: Unexpected identifier "Ada"'],
    ['another engine', 'unexpected ‘of Ada’'],
  ])('does not quote a word of it either, as an engine does: %s', async (_, message) => {
    const check = failing(new SyntaxError(message))

    const { events } = await run({ check }, 'the number of Ada is 4111 1111')

    expect(events).toMatchObject([
      { data: { reason: 'SyntaxError (its message quotes the text)' } },
    ])
  })

  test('quotes what is not of the text', async () => {
    const message = "Cannot read properties of undefined (reading 'trim')"

    const { events } = await run({ check: failing(new TypeError(message)) }, 'the number of Ada')

    expect(events).toMatchObject([{ data: { reason: `TypeError: ${message}` } }])
  })

  test('tells the console once, and not at all where `onEvent` listens', async () => {
    const check = failing(new Error('ill'))
    const middleware = guardrail({ name: 'g', applyTo: ['input'], check, onError: 'open' })
    const agent = new Agent({ client: scriptedClient(() => 'Hi.'), middleware })
    await run({ check, onEvent: () => {} })

    await agent.run('one')
    await agent.run('two')

    expect(lines).toEqual(['guardrail "g" failed: Error: ill'])
  })
})
