import { describe, expect, it } from 'vitest'
import { restrictUsage, usageEnds } from './store-limit-math.ts'
import type { LimitClaim } from './store-limits.ts'
import { memoryStore } from './store.ts'

const claim = (kind: LimitClaim['kind'], amount: number): LimitClaim => ({
  key: 'tokens',
  kind,
  limit: 10,
  windowMs: 1000,
  amount,
})

function make() {
  const clock = { time: 0, now: () => clock.time }
  const { limits } = memoryStore({ clock })
  const take = async (id: string, of: LimitClaim) => {
    const { granted, remaining } = await limits.take(id, [of])
    return [granted, ...remaining]
  }
  const settle = (id: string, of: LimitClaim, used: number) =>
    limits.settle(id, [{ claim: of, used }])
  const restrict = (of: LimitClaim, remaining: number, forMs: number) =>
    limits.restrict([{ claim: of, remaining, forMs }])
  return { clock, take, settle, restrict }
}

describe('limits of this process', () => {
  it('a window gives back each take when its time is over', async () => {
    const { clock, take } = make()

    expect(await take('a', claim('sliding-window', 6))).toEqual([true, 4])
    clock.time = 500
    expect(await take('b', claim('sliding-window', 6))).toEqual([false, 4])
    expect(await take('c', claim('sliding-window', 4))).toEqual([true, 0])
    clock.time = 1000
    expect(await take('d', claim('sliding-window', 6))).toEqual([true, 0])
  })

  it('a window gives back what was settled, and not what was taken', async () => {
    const { clock, take, settle } = make()
    const of = claim('sliding-window', 6)
    await take('a', of)

    await settle('a', of, 8)

    expect(await take('b', of)).toEqual([false, 2])
    clock.time = 1000
    expect(await take('c', of)).toEqual([true, 4])
  })

  it('a window that is in use gives back each settled take once', async () => {
    const { clock, take, settle } = make()
    await take('a', claim('sliding-window', 4))
    await settle('a', claim('sliding-window', 4), 5)
    clock.time = 500
    await take('b', claim('sliding-window', 3))

    clock.time = 1000
    expect(await take('c', claim('sliding-window', 5))).toEqual([true, 2])
    clock.time = 1001
    expect(await take('d', claim('sliding-window', 3))).toEqual([false, 2])
  })

  it.each(['sliding-window', 'token-bucket'] as const)(
    'a call that used nothing leaves nothing behind in a %s',
    async (kind) => {
      const { take, settle } = make()
      await take('a', claim(kind, 6))

      await settle('a', claim(kind, 6), 0)

      expect(await take('b', claim(kind, 10))).toEqual([true, 0])
    },
  )

  it('a bucket counts the end of a call once', async () => {
    const { take, settle } = make()
    const of = claim('token-bucket', 6)
    await take('a', of)

    await settle('a', of, 8)
    await settle('a', of, 10)

    expect(await take('b', claim('token-bucket', 3))).toEqual([false, 2])
  })

  it('a bucket that has filled up during a call holds no more than its limit', async () => {
    const { clock, take, settle } = make()
    await take('a', claim('token-bucket', 6))
    clock.time = 1000

    await settle('a', claim('token-bucket', 6), 0)

    expect(await take('b', claim('token-bucket', 11))).toEqual([false, 10])
  })

  it('a call that has ended takes its place anew', async () => {
    const { take, settle } = make()
    const of = claim('concurrency', 10)
    await take('a', of)
    await settle('a', of, 10)

    expect(await take('b', of)).toEqual([true, 0])
    expect(await take('a', of)).toEqual([false, 0])
  })

  it.each(['sliding-window', 'token-bucket'] as const)(
    'a provider can lower what remains of a %s',
    async (kind) => {
      const { clock, take, restrict } = make()

      await restrict(claim(kind, 1), 2, 500)

      expect(await take('a', claim(kind, 3))).toEqual([false, 2])
      clock.time = 1000
      expect(await take('b', claim(kind, 3))).toEqual([true, 7])
    },
  )

  it('a usage of calls at once ends with the lease, and one of a window with the window', () => {
    const usage = { total: 0, filledAt: 100, held: 0, heldUntil: 0, closedUntil: 0 }

    expect(usageEnds(usage, claim('concurrency', 1), 5000)).toBe(5100)
    expect(usageEnds(usage, claim('sliding-window', 1), 5000)).toBe(1100)
    restrictUsage(usage, { claim: claim('sliding-window', 1), remaining: 0, forMs: 9000 }, 100)
    expect(usageEnds(usage, claim('sliding-window', 1))).toBe(9100)
  })
})
