import { connect } from 'node:net'
import { connect as connectSafely } from 'node:tls'
import { describe } from 'vitest'

/** A Redis to test with: `REDIS_URL`, else the usual place on this machine. */
export const redisUrl: string = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379'

const { protocol, host, hostname, port } = new URL(redisUrl)

/** True if it answers. In CI it must. */
export const hasRedis: boolean = await answers()

if (!hasRedis) {
  const words = `there is no Redis at ${host}`
  if (process.env['CI'] === 'true') throw new Error(words)
  console.warn(`SKIPPED, ${words}: set REDIS_URL`)
}

/** Skips where there is no Redis. */
export const describeWithRedis: typeof describe.skip = hasRedis ? describe : describe.skip

/** Asked in Redis' own words, so that no client is needed: one with a password says that it wants it. */
async function answers(): Promise<boolean> {
  const place = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) }
  const socket = protocol === 'rediss:' ? connectSafely(place) : connect(place)
  const answer = await new Promise<string>((resolve) => {
    socket.once('data', (data) => resolve(data.toString()))
    socket.once('error', () => resolve(''))
    socket.setTimeout(5000, () => resolve(''))
    socket.write('PING\r\n')
  })
  socket.destroy()
  return answer.startsWith('+PONG') || answer.startsWith('-NOAUTH')
}
