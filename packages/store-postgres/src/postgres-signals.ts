import { createHash } from 'node:crypto'
import type { StoreSignals } from '@lamella/core/authoring'
import { backgroundTimer } from '@lamella/core/authoring'
import { noteListeners } from '@lamella/store'
import type { Pool, PoolClient } from 'pg'

/**
 * Carries notes over `NOTIFY` and `LISTEN`, which needs a connection of the pool as long as somebody listens. One
 * that breaks is made again.
 */
export function postgresSignals(
  pool: Pool,
  {
    keyOf,
    inTime,
  }: {
    readonly keyOf: (channel: string) => string
    readonly inTime: <Value>(work: Promise<Value>) => Promise<Value>
  },
): StoreSignals & { readonly close: () => void } {
  let connecting: Promise<PoolClient> | undefined
  let isClosed = false
  const listeners = noteListeners({
    open: async (channel) => {
      const client = await connection()
      await inTime(client.query(`LISTEN ${channel}`))
    },
    close: async (channel) => {
      const client = await connecting
      await client?.query(`UNLISTEN ${channel}`)
      if (listeners.channels.length === 0) end()
    },
  })

  function connection(): Promise<PoolClient> {
    connecting ??= connect().catch((error: unknown) => {
      connecting = undefined
      throw error
    })
    return connecting
  }

  async function connect(): Promise<PoolClient> {
    const client = await pool.connect()
    client.on('notification', ({ channel, payload = '' }) => listeners.tell(channel, payload))
    client.once('error', (error) => {
      connecting = undefined
      client.release(error)
      listenAgain()
    })
    return client
  }

  /** Signals that were sent meanwhile are lost, as listeners expect. */
  function listenAgain(): void {
    const { channels } = listeners
    if (isClosed || channels.length === 0) return
    connection()
      .then((client) => client.query(channels.map((channel) => `LISTEN ${channel}`).join('; ')))
      .catch(() => void backgroundTimer(listenAgain, retryMs))
  }

  function end(): void {
    connecting?.then((client) => client.release(true)).catch(() => {})
    connecting = undefined
  }

  /** A name of PostgreSQL has 63 bytes at most. */
  const channelOf = (channel: string): string =>
    `lamella_${createHash('sha256').update(keyOf(channel)).digest('hex').slice(0, 48)}`

  return {
    async send(channel, note) {
      await inTime(pool.query('SELECT pg_notify($1, $2)', [channelOf(channel), note]))
    },
    listen: (channel, listener) => listeners.listen(channelOf(channel), listener),
    close: () => {
      isClosed = true
      end()
    },
  }
}

const retryMs = 1000
