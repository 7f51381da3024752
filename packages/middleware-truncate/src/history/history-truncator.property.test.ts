import type { Message } from '@lamella/core'
import { isProviderError, visibleHistory } from '@lamella/core'
import { runChatMiddleware } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conversation } from '../turns/conversation.test-helper.ts'
import type { HistoryTruncatorOptions } from '../index.ts'
import { historyTruncator } from '../index.ts'
import { runs } from '../../../../tests/support/runs.ts'

const options: fc.Arbitrary<HistoryTruncatorOptions> = fc
  .record(
    {
      maxMessages: fc.integer({ min: 1, max: 30 }),
      maxTokens: fc.integer({ min: 20, max: 400 }),
      headroom: fc.constantFrom(0, 0.25, 0.5),
      keep: fc.record({ firstUser: fc.boolean(), currentRun: fc.boolean() }),
      clearResults: fc.record({ keep: fc.integer({ min: 0, max: 3 }) }),
      pinEvery: fc.integer({ min: 2, max: 9 }),
    },
    { requiredKeys: [] },
  )
  .map(({ pinEvery, keep, ...rest }) => ({
    ...rest,
    keep: {
      ...keep,
      ...(pinEvery !== undefined && {
        pinned: ({ id }: Message) => Number(id.slice(1)) % pinEvery === 0,
      }),
    },
  }))

describe('whatever is cut', () => {
  it('leaves what every provider takes, or fails with a typed error', async () => {
    let cuts = 0
    await fc.assert(
      fc.asyncProperty(conversation, options, async (messages, limits) => {
        const { innerCalls, error } = await runChatMiddleware(
          historyTruncator({ ...limits, calibrate: false }),
          { input: messages },
        )

        const isTooMuch = isProviderError(error) && error.kind === 'context_length'
        expect(error === undefined || (isTooMuch && limits.maxTokens !== undefined)).toBe(true)
        if (error !== undefined) return
        const sent = innerCalls[0]!.messages
        if (sent.length < messages.length) cuts++
        // Right at the start, pairs whole, nothing empty.
        expect(sent.find(({ role }) => role !== 'system')?.role).toBe('user')
        expect(visibleHistory(sent)).toEqual(sent)
        expect(sent.every(({ contents }) => contents.length > 0)).toBe(true)
        // Nothing new, nothing out of order; what must stay is there.
        const ids = sent.map(({ id }) => id)
        expect(ids).toEqual(messages.map(({ id }) => id).filter((id) => ids.includes(id)))
        const mustStay = messages.filter(
          (entry) => entry.role === 'system' || limits.keep?.pinned?.(entry) === true,
        )
        expect(ids).toEqual(expect.arrayContaining(mustStay.map(({ id }) => id)))
        const last = messages.findLastIndex(({ role }) => role === 'user')
        const current = messages.slice(limits.keep?.currentRun === false ? -1 : last)
        expect(ids).toEqual(expect.arrayContaining(current.map(({ id }) => id)))
      }),
      { numRuns: runs(300) },
    )
    expect(cuts).toBeGreaterThan(0)
  })

  it('stays where it is while a conversation grows within the headroom', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, async (messages) => {
        const middleware = historyTruncator({ maxMessages: 8, headroom: 0.5 })
        const starts = new Set<string | undefined>()
        const sizes: number[] = []
        for (let end = 1; end <= messages.length; end++) {
          if (messages[end - 1]!.role !== 'user') continue
          const { innerCalls } = await runChatMiddleware(middleware, {
            input: messages.slice(0, end),
          })
          starts.add(innerCalls[0]!.messages.find(({ role }) => role !== 'system')?.id)
          sizes.push(end)
        }

        expect(starts.size).toBeLessThanOrEqual(1 + Math.ceil(messages.length / 4))
      }),
      { numRuns: runs(30) },
    )
  })
})
