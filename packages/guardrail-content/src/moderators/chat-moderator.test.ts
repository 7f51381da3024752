import { Agent, ProviderError } from '@lamella/core'
import { runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { contentFilter, llamaModeration, nemoModeration } from '../index.ts'

const { signal } = new AbortController()
const scoresBy = (make: typeof llamaModeration, answer: string) =>
  make({ client: scriptedClient([answer]) }).moderate({ type: 'text', text: 'Hello' }, signal)

describe('a model as moderator', () => {
  it.each([
    [llamaModeration, 'safe', []],
    [llamaModeration, '\n\nunsafe\nS1,S10', ['violent_crimes', 'hate']],
    [llamaModeration, 'unsafe\nS77', ['unsafe']],
    [nemoModeration, '{"User Safety": "safe"}', []],
    [
      nemoModeration,
      '{"User Safety": "unsafe", "Response Safety": "safe", "Safety Categories": "Guns and Illegal Weapons, Violence"}',
      ['guns_and_illegal_weapons', 'violence'],
    ],
    [nemoModeration, '{"User Safety": "unsafe"}', ['unsafe']],
  ])('%o: %s', async (make, answer, categories) => {
    const scores = await scoresBy(make, answer)

    expect(Object.keys(scores)).toEqual(categories)
    expect(Object.values(scores).every(({ flagged }) => flagged)).toBe(true)
  })

  it.each([
    [llamaModeration, 'I think it is safe.'],
    [llamaModeration, 'unsafe'],
    [llamaModeration, 'safe\nS1'],
    [llamaModeration, ''],
    [nemoModeration, 'safe'],
    [nemoModeration, '{"User Safety": "maybe"}'],
    [nemoModeration, '{}'],
  ])('%o: an answer of another form is no verdict: %s', async (make, answer) => {
    await expect(scoresBy(make, answer)).rejects.toMatchObject({ code: 'moderation_failed' })
  })

  it('that fails gives no verdict', async () => {
    const down = new ProviderError('down', { kind: 'overloaded', provider: 'p' })
    const client = scriptedClient([down])

    const failed = llamaModeration({ client }).moderate({ type: 'text', text: 'Hello' }, signal)

    await expect(failed).rejects.toMatchObject({ code: 'moderation_failed', cause: down })
  })

  it('is no client', () => {
    expect(() => llamaModeration({ client: {} as never })).toThrow(
      'llamaModeration: `client` must be',
    )
  })
})

describe.each(runModes)('in a run, %s', (mode) => {
  const agentWith = (answers: readonly string[]) => {
    const moderation = llamaModeration({ client: scriptedClient(answers) })
    const middleware = contentFilter({ moderation })
    return new Agent({ client: scriptedClient(['Take the car.']), middleware })
  }

  it('blocks by its categories', async () => {
    const { block } = await runIn(mode, agentWith(['safe', 'unsafe\nS2']))

    expect(block).toMatchObject({ stage: 'output', category: 'non_violent_crimes' })
  })

  it('its tokens count', async () => {
    const { usage } = await runIn(mode, agentWith(['safe', 'safe']))

    expect(usage.totalTokens).toBe(45)
  })
})
