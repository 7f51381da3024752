import { scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import type { RunEvent } from '@lamella/core'
import { Agent, textOf } from '@lamella/core'
import type { GuardrailEvent } from './guardrail-check.ts'
import { guardrail } from './guardrail.ts'
import type { Verdict } from './verdict.ts'
import type { Check } from './guardrail-check.test-helper.ts'
import { secrets, run, statuses } from './guardrail-check.test-helper.ts'

describe('events', () => {
  test('of the run tell what was done and never what matched', async () => {
    const { events } = await run({ check: secrets, includeContent: true }, 'my secret')

    expect(events).toMatchObject([
      {
        type: 'guardrail',
        data: {
          guardrail: 'g',
          stage: 'input',
          status: 'blocked',
          category: 'secrets',
          severity: 0.9,
        },
      },
    ])
    expect(JSON.stringify(events)).not.toContain('my secret')
  })

  test('of the guardrail tell of passes too, and of what matched only when asked', async () => {
    const told: GuardrailEvent[] = []
    const options = { check: secrets, onEvent: (event: GuardrailEvent) => void told.push(event) }

    const passed = await run(options, 'hello')
    await run(options, 'my secret')
    await run({ ...options, includeContent: true }, 'hello')
    await run({ ...options, includeContent: true }, 'my secret')

    expect(passed.events).toEqual([])
    expect(told.map(({ status, match }) => [status, match])).toEqual([
      ['passed', undefined],
      ['blocked', undefined],
      ['passed', undefined],
      ['blocked', 'my secret'],
    ])
  })

  describe('of a text with escapes, which is read as it is and decoded,', () => {
    const finding =
      (first: Verdict['action'], second = first, categories = ['c', 'c']): Check =>
      ({ text }) => {
        const isDecoded = text.includes('\n')
        return { action: isDecoded ? second : first, category: categories[isDecoded ? 1 : 0] }
      }

    test.each<[string, Check, readonly string[]]>([
      ['a pass', finding('allow'), ['passed']],
      ['a flag', finding('flag'), ['flagged']],
      ['a replacement', finding('replace'), ['replaced']],
      ['two findings', finding('flag', 'flag', ['c', 'd']), ['flagged', 'flagged']],
      ['two actions', finding('replace', 'flag'), ['replaced', 'flagged']],
      ['a later block', finding('replace', 'block'), ['replaced', 'blocked']],
      ['a later finding', finding('allow', 'flag'), ['passed', 'flagged']],
    ])('tell of each finding once: %s', async (_, check, expected) => {
      const told: string[] = []

      await run({ check, onEvent: ({ status }) => void told.push(status) }, 'a\\nb')

      expect(told).toEqual(expected)
    })

    test('tell of a replacement that only one reading finds', async () => {
      const told: string[] = []
      const check: Check = ({ text }) => ({
        action: 'replace',
        spans: Array.from(text.matchAll(/secret/g), ({ index }) => ({
          start: index,
          end: index + 6,
        })),
        replacement: '*',
      })

      const { client } = await run(
        { check, onEvent: ({ status }) => void told.push(status) },
        'a secret and a sec\\u0072et here',
      )

      expect(textOf(client.requests[0]!.messages[0]!.contents)).toBe('a * and a * here')
      expect(told).toEqual(['replaced', 'replaced'])
    })
  })

  test('that somebody cannot take change nothing', async () => {
    const { response } = await run({
      onEvent: () => {
        throw new Error('full disk')
      },
    })

    expect(response.status).toBe('completed')
  })

  test('of text as a whole come once for each category, however often it is checked', async () => {
    const check: Check = () => ({ action: 'flag', category: 'odd' })
    const middleware = guardrail({
      name: 'g',
      applyTo: ['output'],
      check,
      stream: { holdChars: 2 },
    })
    const client = scriptedClient(['word by word by word'])
    const events: RunEvent[] = []

    await new Agent({ client, middleware })
      .run('Hello', { stream: true, onEvent: (event) => void events.push(event) })
      .finalResponse()

    expect(statuses(events)).toEqual(['flagged'])
  })

  test('of a match in a stream come once, in order, with chunks of any size', async () => {
    const check: Check = ({ text }) => ({
      action: 'flag',
      category: 'digit',
      spans: Array.from(text.matchAll(/\d/g), ({ index }) => ({ start: index, end: index + 1 })),
    })
    const told: (string | undefined)[] = []
    const middleware = guardrail({
      name: 'g',
      applyTo: ['output'],
      check: (subject, context) =>
        /\d/.test(subject.text) ? check(subject, context) : { action: 'allow' },
      stream: { holdChars: 5 },
      includeContent: true,
      onEvent: ({ status, match }) => void (status === 'flagged' && told.push(match)),
    })
    const client = scriptedClient(['1 and 2 and 3'], { chunk: 1 })

    await new Agent({ client, middleware }).run('Hello', { stream: true }).finalResponse()

    expect(told).toEqual(['1', '2', '3'])
  })
})
