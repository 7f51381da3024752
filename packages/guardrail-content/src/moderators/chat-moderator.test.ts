import { Agent, ProviderError } from '@lamella/core'
import { runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { contentFilter, llamaGuard, nemoGuard } from '../index.ts'

const { signal } = new AbortController()
const scoresBy = (make: typeof llamaGuard, answer: string) =>
  make({ client: scriptedClient([answer]) }).moderate({ type: 'text', text: 'Hello' }, signal)

describe('a model as moderator', () => {
  it.each([
    [llamaGuard, 'safe', []],
    [llamaGuard, '\n\nunsafe\nS1,S10', ['violent_crimes', 'hate']],
    [llamaGuard, 'unsafe\nS77', ['unsafe']],
    [nemoGuard, '{"User Safety": "safe"}', []],
    [
      nemoGuard,
      '{"User Safety": "unsafe", "Response Safety": "safe", "Safety Categories": "Guns and Illegal Weapons, Violence"}',
      ['guns_and_illegal_weapons', 'violence'],
    ],
    [nemoGuard, '{"User Safety": "unsafe"}', ['unsafe']],
  ])('%o: %s', async (make, answer, categories) => {
    const scores = await scoresBy(make, answer)

    expect(Object.keys(scores)).toEqual(categories)
    expect(Object.values(scores).every(({ flagged }) => flagged)).toBe(true)
  })

  it.each([
    [llamaGuard, 'I think it is safe.'],
    [llamaGuard, 'unsafe'],
    [llamaGuard, 'safe\nS1'],
    [llamaGuard, ''],
    [nemoGuard, 'safe'],
    [nemoGuard, '{"User Safety": "maybe"}'],
    [nemoGuard, '{}'],
  ])('%o: an answer of another form is no verdict: %s', async (make, answer) => {
    await expect(scoresBy(make, answer)).rejects.toMatchObject({ code: 'moderation_failed' })
  })

  it('that fails gives no verdict', async () => {
    const down = new ProviderError('down', { kind: 'overloaded', provider: 'p' })
    const client = scriptedClient([down])

    const failed = llamaGuard({ client }).moderate({ type: 'text', text: 'Hello' }, signal)

    await expect(failed).rejects.toMatchObject({ code: 'moderation_failed', cause: down })
  })

  it('is no client', () => {
    expect(() => llamaGuard({ client: {} as never })).toThrow('llamaGuard: `client` must be')
  })
})

describe.each(runModes)('in a run, %s', (mode) => {
  const agentWith = (answers: readonly string[]) => {
    const moderation = llamaGuard({ client: scriptedClient(answers) })
    const middleware = contentFilter({ moderation })
    return new Agent({ client: scriptedClient(['Take the car.']), middleware })
  }

  it('it blocks by its categories', async () => {
    const { block } = await runIn(mode, agentWith(['safe', 'unsafe\nS2']))

    expect(block).toMatchObject({ stage: 'output', category: 'non_violent_crimes' })
  })

  it('its tokens count for the run', async () => {
    const { usage } = await runIn(mode, agentWith(['safe', 'safe']))

    expect(usage.totalTokens).toBe(45)
  })
})
