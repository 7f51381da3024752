import { expect, it } from 'vitest'
import { askUntil } from './ask-until.ts'
import { problemOfKind, problemOfName } from './create-package.ts'

/** Asks somebody who gives these answers. */
async function conversation(
  answers: readonly string[],
  problemOf: (answer: string) => string | undefined,
): Promise<{ readonly answer: string; readonly told: readonly string[] }> {
  const left = [...answers]
  const told: string[] = []
  const answer = await askUntil(
    async () => left.shift()!,
    problemOf,
    (problem) => void told.push(problem),
  )
  return { answer, told }
}

it('asks again after a kind that is none, and says which there are', async () => {
  const { answer, told } = await conversation(['', 'plugin', ' middleware '], problemOfKind)

  expect(answer).toBe('middleware')
  expect(told).toHaveLength(2)
  expect(told[1]).toContain('middleware, guardrail')
  expect(told[1]).toContain('got plugin')
})

it('asks again after a name that cannot be published', async () => {
  const { answer, told } = await conversation(['My Package', '@acme/polite'], problemOfName)

  expect([answer, told.length]).toEqual(['@acme/polite', 1])
})
