// One of many processes that share a cache on Redis: it asks a slow model and tells its parent what it read.
// Arguments: url, namespace, number of calls at once, milliseconds of the model, milliseconds of the lease.
import KeyvRedis from '@keyv/redis'
import { Agent } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { Keyv } from 'keyv'
import { cache } from './cache.ts'

const [url = '', namespace = '', calls = '1', modelMs = '0', leaseMs = '10000'] =
  process.argv.slice(2)
const keyv = new Keyv({ store: new KeyvRedis(url), namespace })
const client = scriptedClient(async () => {
  process.send?.({ model: process.pid })
  await new Promise((resolve) => setTimeout(resolve, Number(modelMs)))
  return `from ${process.pid}`
})
// A process that stands still takes its store for one that does not answer, and asks the model.
const middleware = cache({
  store: keyv,
  singleFlight: { leaseMs: Number(leaseMs) },
  storeTimeoutMs: Infinity,
})
const agent = new Agent({ client, middleware })

async function work(): Promise<void> {
  const runs = Array.from({ length: Number(calls) }, () => agent.run('The same question.'))
  const texts = (await Promise.all(runs)).map(({ text }) => text)
  process.send?.({ texts }, undefined, {}, () => void keyv.disconnect().then(() => process.exit()))
}

process.on('message', () => void work())
await keyv.get('connect')
process.send?.({ ready: true })
