import type { AgentResponse } from '@lamella/core'
import { memoryStore } from '@lamella/core'
import { testRandom } from '@lamella/testing'
import { expect, test } from 'vitest'
import { FakeWorkflow } from '../testing/fake-workflow.test-helper.ts'
import type { World } from '../testing/random-run.test-helper.ts'
import { agentOf, answersTo, expectedOf, tokensOfCall } from '../testing/random-run.test-helper.ts'
import { readAsPage } from '../testing/read-as-page.test-helper.ts'
import { storedUpdates } from '../updates/stored-updates.ts'
import { runDurably } from './run-durably.ts'
import { isLong } from '../../../../tests/support/runs.ts'

const many = isLong ? Math.min(200, Number(process.env['DURABLE_RUNS'] ?? 200)) : 12
const seeds = Array.from({ length: many }, (_, at) => at + 1)

/** A world in memory, in which things take a random number of turns. */
class MemoryWorld implements World {
  readonly store = memoryStore()
  readonly payments: Record<string, number> = {}
  readonly answers = new Map<string, number>()
  alive: () => Promise<void> = async () => {}
  readonly #random: () => number
  constructor(seed: number) {
    this.#random = testRandom(seed)
  }
  async happens(): Promise<void> {
    for (let turns = Math.floor(this.#random() * 4); turns > 0; turns--) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    await this.alive()
  }
  answered(step: string): void {
    this.answers.set(step, (this.answers.get(step) ?? 0) + 1)
  }
  pay(key: string, amount: number): void {
    this.payments[key] = amount
  }
  isDown(): boolean {
    return this.#random() < 0.3
  }
}

/** Runs a seed, killed at each of these points. */
async function runKilled(seed: number, ...kills: readonly number[]) {
  const workflow = new FakeWorkflow()
  const world = new MemoryWorld(seed * 1000 + (kills[0] ?? 0))
  const updates = storedUpdates(world.store, { flushMs: 0 })
  const page = readAsPage(updates, 'workflow-1')
  const pass = (killAt?: number): Promise<AgentResponse | 'killed'> =>
    workflow.pass(
      (engine, alive) => {
        world.alive = alive
        return runDurably(agentOf(seed, world), 'Go.', { ...engine, updates })
      },
      { killAt, answer: answersTo },
    )
  let before: (readonly [step: string, count: number])[] = []
  for (const kill of kills) {
    const end = await pass(kill)
    expect(end).toBe('killed')
    const stored = workflow.steps.flatMap((step) => step?.name ?? [])
    before = stored.flatMap((name) => {
      const count = world.answers.get(name)
      return count === undefined ? [] : [[name, count] as const]
    })
  }
  const response = (await pass()) as AgentResponse
  // A call whose step was stored before the kill is not made again.
  for (const [step, count] of before) expect([step, world.answers.get(step)]).toEqual([step, count])
  // A page that read along has the same text.
  expect(await page).toMatchObject({ text: response.text, ended: response.text })
  return { response, world, workflow, pass }
}

test.each(seeds)(
  'a run that is killed at any step ends with the same answer, each effect once: %i',
  async (seed) => {
    const expected = expectedOf('workflow-1', seed)
    const whole = await runKilled(seed)
    const points = whole.workflow.at
    const { text, tokens: totalTokens } = expected
    expect(whole.response).toMatchObject({ status: 'completed', text, usage: { totalTokens } })

    for (let at = 1; at <= points; at += isLong ? 1 : 7) {
      const { response, world, pass } = await runKilled(seed, at)

      expect(response.text).toBe(expected.text)
      // A call that the kill has lost is answered by the cache.
      const lost = totalTokens - (response.usage.totalTokens ?? 0)
      expect([0, tokensOfCall]).toContain(lost)
      expect(response.runId).toBe('workflow-1')
      expect(world.payments).toEqual(expected.payments)
      // Another pass gives the same, byte by byte.
      expect(JSON.stringify(await pass())).toBe(JSON.stringify(response))
    }

    const { response, world } = await runKilled(seed, 3, 2, 5, 7)
    expect([response.text, world.payments]).toEqual([expected.text, expected.payments])
  },
)
