import type { KeyValueStore } from '@lamella/core'
import { memoryStore } from '@lamella/core'
import { testClock } from '@lamella/testing'
import { expect, test } from 'vitest'
import { lastOf, refusalOf, served } from '../sse/served.test-helper.ts'

/** A process whose lease is over when it writes it for the last time, because it stood still before that. */
function standingStill(store: KeyValueStore, meanwhile: () => Promise<unknown>) {
  let isNext = false
  const stand = async (key: string): Promise<void> => {
    if (!isNext || !key.includes('serve-runs')) return
    isNext = false
    await meanwhile()
  }
  const slow: KeyValueStore = {
    ...store,
    async delete(key) {
      await stand(key)
      await store.delete(key)
    },
    async compareAndSet(key, ...given) {
      await stand(key)
      return store.compareAndSet(key, ...given)
    },
  }
  const client = (): string => {
    isNext = true
    return 'Hello.'
  }
  return served(client, { leaseMs: 1000 }, { store: slow })
}

test('a process that stood still at the end of its run does not free the chat of the next run', async () => {
  const clock = testClock()
  const store = memoryStore({ clock })
  const other = served([{ updates: ['Hi'], hang: true }], { leaseMs: 1000 }, { store })
  const leaving = new AbortController()
  const body = { chat: 'c', input: 'Hi' }
  const statuses: number[] = []
  const { post } = standingStill(store, async () => {
    await clock.advance(1001)
    statuses.push((await other.post(body, {}, leaving.signal)).status)
  })

  await lastOf(await post(body))
  const third = await post(body)

  expect(statuses).toEqual([200])
  expect(await refusalOf(third)).toEqual([409, 'run_active'])
  leaving.abort()
})

test('a chat is free as soon as its run has ended, also while its mark expires', async () => {
  const clock = testClock()
  const memory = memoryStore({ clock })
  const store: KeyValueStore = {
    ...memory,
    async compareAndSet(...given) {
      const isSet = await memory.compareAndSet(...given)
      if (!isSet) await clock.advance(10)
      return isSet
    },
  }
  const { post, get } = served(() => 'Hello.', {}, { store })

  for (const input of ['One', 'Two', 'Three']) {
    const [event] = await lastOf(await post({ chat: 'c', input }))
    const history = (await (await get('?chat=c')).json()) as { running: boolean }

    expect([event, history.running]).toEqual(['done', false])
  }
})
