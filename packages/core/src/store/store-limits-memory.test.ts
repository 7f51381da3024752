import { describe, expect, it } from 'vitest'
import { limitMath } from './store-limit-math.ts'
import type { LimitClaim } from './store-limits.ts'
import { memoryStore } from './store.ts'

const { needsTakes, refreshUsage, restrictUsage, usageEnds } = limitMath

const claim = (kind: LimitClaim['kind'], amount: number): LimitClaim => ({
  key: 'tokens',
  kind,
  limit: 10,
  windowMs: 1000,
  amount,
})

const otherClaim: LimitClaim = { ...claim('sliding-window', 1), key: 'other' }

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
  const wait = async (of: LimitClaim) => {
    const grant = await limits.take('waiting', [of])
    return grant.granted ? 0 : grant.retryAfterMs
  }
  return { clock, limits, take, settle, restrict, wait }
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

  it('a window tells when enough takes have come back', async () => {
    const { clock, take, wait } = make()
    await take('a', claim('sliding-window', 6))
    clock.time = 300
    await take('b', claim('sliding-window', 4))

    clock.time = 500
    expect(await wait(claim('sliding-window', 5))).toBe(500)
    expect(await wait(claim('sliding-window', 8))).toBe(800)
  })

  it('a window tells when amounts that the provider holds come back, before and after its takes', async () => {
    const { clock, take, restrict, wait } = make()
    await take('a', claim('sliding-window', 3))
    clock.time = 50
    await take('b', claim('sliding-window', 2))
    clock.time = 100
    await restrict(claim('sliding-window', 1), 2, 400)

    clock.time = 200
    expect(await take('c', claim('sliding-window', 4))).toEqual([false, 2])
    expect(await wait(claim('sliding-window', 4))).toBe(300)
    expect(await wait(claim('sliding-window', 6))).toBe(800)
    expect(await wait(claim('sliding-window', 10))).toBe(850)

    await restrict(claim('sliding-window', 1), 2, 2000)
    expect(await wait(claim('sliding-window', 4))).toBe(800)
    expect(await wait(claim('sliding-window', 8))).toBe(2000)
  })

  it('amounts that a provider holds are back when its report ends', async () => {
    const { clock, take, restrict, wait } = make()
    await restrict(claim('sliding-window', 1), 2, 500)

    clock.time = 100
    expect(await wait(claim('sliding-window', 3))).toBe(400)
    clock.time = 500
    expect(await take('a', claim('sliding-window', 10))).toEqual([true, 0])
  })

  it('a bucket fills up little by little, also after the provider lowered it', async () => {
    const { clock, take, restrict, wait } = make()
    await restrict(claim('token-bucket', 1), 1, 500)

    clock.time = 100
    expect(await take('a', claim('token-bucket', 3))).toEqual([false, 2])
    clock.time = 200
    expect(await take('b', claim('token-bucket', 4))).toEqual([false, 3])
    expect(await wait(claim('token-bucket', 4))).toBe(100)
  })

  it('a bucket counts what a call used that was longer than the window', async () => {
    const { clock, take, settle } = make()
    await take('a', claim('token-bucket', 6))
    clock.time = 1500

    await settle('a', claim('token-bucket', 6), 8)

    expect(await take('b', claim('token-bucket', 10))).toEqual([false, 8])
  })

  it('calls at once wait for the end of a call', async () => {
    const { take, wait } = make()
    await take('a', claim('concurrency', 10))

    expect(await wait(claim('concurrency', 1))).toBe(Infinity)
  })

  it.each(['sliding-window', 'token-bucket', 'concurrency'] as const)(
    'a %s that the provider has closed opens when the report ends',
    async (kind) => {
      const { clock, take, restrict, wait } = make()
      clock.time = 100
      await restrict(claim(kind, 1), 0, 9000)

      clock.time = 200
      expect(await wait(claim(kind, 1))).toBe(8900)
      clock.time = 5000
      await take('other', otherClaim)
      await take('another', otherClaim)
      expect(await wait(claim(kind, 1))).toBe(4100)
    },
  )

  it.each(['sliding-window', 'token-bucket', 'concurrency'] as const)(
    'a take that is repeated is granted, and counts once in a %s',
    async (kind) => {
      const { take } = make()
      await take('a', claim(kind, 6))

      expect(await take('a', claim(kind, 6))).toEqual([true, 4])
      expect(await take('b', claim(kind, 4))).toEqual([true, 0])
    },
  )

  it('of several claims all are taken or none, and the longest wait is told', async () => {
    const { limits } = make()
    const window = claim('sliding-window', 6)
    const bucket = { ...claim('token-bucket', 6), key: 'bucket' }
    await limits.take('a', [window, bucket])

    const refused = await limits.take('b', [{ ...window, amount: 1 }, bucket, window])

    expect(refused).toEqual({
      granted: false,
      remaining: [4, 4, 4],
      index: 2,
      retryAfterMs: 1000,
    })
  })

  it.each([
    ['sliding-window', 4],
    ['token-bucket', 9],
    ['concurrency', 4],
  ] as const)('a %s that is in use stays while others come and go', async (kind, remaining) => {
    const { clock, take } = make()
    await take('a', claim(kind, 6))
    clock.time = 500

    await take('b', otherClaim)
    await take('c', otherClaim)

    expect(await take('d', claim(kind, 11))).toEqual([false, remaining])
  })

  it('a bucket stays for a call that is longer than its window, while others come and go', async () => {
    const { clock, take, settle } = make()
    await take('a', claim('token-bucket', 6))
    clock.time = 599_000
    await take('b', otherClaim)
    await take('c', otherClaim)

    await settle('a', claim('token-bucket', 6), 8)

    expect(await take('d', claim('token-bucket', 10))).toEqual([false, 8])
  })

  it('an overdrawn bucket stays until it is full', async () => {
    const { clock, take, settle } = make()
    await take('a', claim('token-bucket', 6))
    await settle('a', claim('token-bucket', 6), 10_000)
    clock.time = 999_500

    await take('b', otherClaim)
    await take('c', otherClaim)

    expect(await take('d', claim('token-bucket', 6))).toEqual([false, 5])
  })

  it('only a window that lacks room needs its takes', () => {
    const usage = { total: 3, filledAt: 0, held: 2, heldUntil: 500, closedUntil: 0 }

    expect(needsTakes(usage, claim('sliding-window', 6))).toBe(true)
    expect(needsTakes(usage, claim('sliding-window', 5))).toBe(false)
    expect(needsTakes(usage, claim('token-bucket', 6))).toBe(false)
    expect(needsTakes(usage, claim('token-bucket', 5))).toBe(false)
  })

  it('a window whose takes were fractions is empty in the end', () => {
    const usage = { total: 0.1 + 0.2, filledAt: 0, held: 0, heldUntil: 0, closedUntil: 0 }

    refreshUsage(usage, claim('sliding-window', 1), 1000, 0.3)

    expect(usage.total).toBe(0)
  })

  it('a window ends with its time, and a bucket when it is full and no call can settle', () => {
    const usage = { total: 15, filledAt: 100, held: 0, heldUntil: 0, closedUntil: 0 }
    const hourly = { ...claim('token-bucket', 1), windowMs: 3_600_000 }

    expect(usageEnds(usage, claim('sliding-window', 1))).toBe(1100)
    expect(usageEnds(usage, claim('token-bucket', 1))).toBe(600_100)
    expect(usageEnds(usage, hourly)).toBe(5_400_100)
    expect(usageEnds({ ...usage, total: 0 }, hourly)).toBe(3_600_100)
  })

  it('a usage of calls at once ends with the lease, and one of a window with the window', () => {
    const usage = { total: 0, filledAt: 100, held: 0, heldUntil: 0, closedUntil: 0 }

    expect(usageEnds(usage, claim('concurrency', 1), 5000)).toBe(5100)
    expect(usageEnds(usage, claim('sliding-window', 1), 5000)).toBe(1100)
    restrictUsage(usage, { claim: claim('sliding-window', 1), remaining: 0, forMs: 9000 }, 100)
    expect(usageEnds(usage, claim('sliding-window', 1))).toBe(9100)
  })
})
