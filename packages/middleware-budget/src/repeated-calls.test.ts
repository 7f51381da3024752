import { callFunction } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { budgetedAgent } from './budgeted-agent.test-helper.ts'
import type { BudgetOptions } from './index.ts'
import { budget } from './index.ts'
import { isRepeated, lastCalls } from './repeated-calls.ts'

/** Runs an agent whose model makes these calls of `look`. */
async function calls(args: readonly Record<string, unknown>[], options: BudgetOptions = {}) {
  const steps = args.map((given) => callFunction('look', given))
  const { run, ran } = budgetedAgent(budget(options), [...steps, 'Done.'])
  const { status, reason } = await run(false)
  return { status, reason, ran: ran.length }
}

describe('calls that repeat themselves', () => {
  const a = { city: 'Rome', day: 1 }
  const sameAsA = { day: 1, city: 'Rome' }
  const b = { city: 'Oslo', day: 1 }

  it('end a run when the same has been called three times in a row', async () => {
    const ended = { status: 'budget_exhausted', reason: 'repeatedToolCalls', ran: 3 }

    expect(await calls([a, sameAsA, a, sameAsA, a])).toEqual(ended)
  })

  it('end a run that goes round in circles', async () => {
    expect(await calls([a, b, a, b, a, b, a, b])).toMatchObject({
      reason: 'repeatedToolCalls',
      ran: 6,
    })
  })

  it('may come again when something else was called in between', async () => {
    const others = [1, 2, 3, 4, 5].map((day) => ({ ...b, day }))

    expect(await calls([a, a, a, ...others, a, a, a])).toMatchObject({ status: 'completed' })
  })

  it('may be allowed', async () => {
    const same = [a, a, a, a, a, a]

    expect(await calls(same, { limits: { repeatedToolCalls: 6 } })).toMatchObject({ ran: 6 })
    expect(await calls(same, { limits: { repeatedToolCalls: false } })).toMatchObject({
      status: 'completed',
      ran: 6,
    })
  })

  it('may be refused, with a word to the model', async () => {
    expect(await calls([a, a, a, a, b], { onToolLimit: 'refuse' })).toEqual({
      status: 'completed',
      reason: undefined,
      ran: 4,
    })
  })

  it('in one batch count, too', async () => {
    const batch = Array.from({ length: 5 }, (_, at) => callFunction('look', a, `c${at}`))
    const { run, ran } = budgetedAgent(budget(), [batch, 'Done.'])

    expect(await run(false)).toMatchObject({ reason: 'repeatedToolCalls' })
    expect(ran).toHaveLength(3)
  })

  it('with arguments that pollute nothing are told apart', async () => {
    const odd = JSON.parse('{"__proto__": 1}') as Record<string, unknown>

    expect(await calls([odd, {}, odd, {}, odd, {}])).toMatchObject({ status: 'completed' })
  })
})

it('however many calls came before, only the last ones decide', () => {
  const signatures = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 60 })
  const limits = fc.integer({ min: 1, max: 5 })
  fc.assert(
    fc.property(signatures, limits, (all, limit) => {
      expect(isRepeated(lastCalls(all, limit), limit)).toBe(isRepeated(all, limit))
    }),
  )
})

it('a circle is found wherever it began', () => {
  const circles = fc.integer({ min: 1, max: 4 })
  const limits = fc.integer({ min: 1, max: 5 })
  fc.assert(
    fc.property(circles, limits, fc.nat(10), (circle, limit, before) => {
      const start = Array.from({ length: before }, (_, at) => `start ${at}`)
      const round = Array.from({ length: circle * limit }, (_, at) => `call ${at % circle}`)

      expect(isRepeated([...start, ...round], limit)).toBe(false)
      expect(isRepeated([...start, ...round, 'call 0'], limit)).toBe(true)
    }),
  )
})
