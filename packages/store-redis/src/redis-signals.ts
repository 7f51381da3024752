import type { StoreSignals } from '@lamella/core/authoring'
import { noteListeners } from '@lamella/store'
import type { Redis } from 'ioredis'

/** Carries notes over publish and subscribe, which needs a connection of its own. It begins with the first listener. */
export function redisSignals(
  redis: Redis,
  {
    channelOf,
    inTime,
  }: {
    readonly channelOf: (channel: string) => string
    readonly inTime: <Value>(work: Promise<Value>) => Promise<Value>
  },
): StoreSignals & { readonly close: () => void } {
  let subscriber: Redis | undefined
  const listeners = noteListeners({
    open: async (channel) => void (await inTime(connection().subscribe(channel))),
    close: async (channel) => void (await subscriber?.unsubscribe(channel)),
  })

  function connection(): Redis {
    if (subscriber !== undefined) return subscriber
    // The client subscribes anew by itself after its connection has broken.
    subscriber = redis.duplicate({
      maxRetriesPerRequest: null,
      enableOfflineQueue: true,
      // It may be silent for long.
      socketTimeout: undefined,
    })
    subscriber.on('error', () => {})
    subscriber.on('message', listeners.tell)
    return subscriber
  }

  return {
    async send(channel, note) {
      await inTime(redis.publish(channelOf(channel), note))
    },
    listen: (channel, listener) => listeners.listen(channelOf(channel), listener),
    close: () => subscriber?.disconnect(),
  }
}
