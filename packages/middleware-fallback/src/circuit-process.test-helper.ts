// One of many processes that share circuits on Redis. It makes the calls that its parent orders, and tells
// what came of each. Arguments: url, namespace.
import KeyvRedis from '@keyv/redis'
import { Agent } from '@lamella/core'
import { keyvStore } from '@lamella/middleware-cache'
import { scriptedClient } from '@lamella/testing'
import { Keyv } from 'keyv'
import { circuitBreaker, isCircuitOpenError } from './index.ts'
import { failure, rejection } from './failing-run.test-helper.ts'

export interface Order {
  readonly circuit: string
  readonly calls: number
  /** Milliseconds for which a circuit stays open if these calls open it, and for which a trial may last. */
  readonly openMs: number
  /** Behavior of the model. One that waits answers when its process is told `go`. */
  readonly model: 'answers' | 'fails' | 'waits'
}

/** Of a call, or `asked` when the model is, or `opened` when a circuit is. */
export type Told = 'ready' | 'asked' | 'opened' | 'answered' | 'failed' | 'rejected'

const [url = '', namespace = ''] = process.argv.slice(2)
const keyv = new Keyv({ store: new KeyvRedis(url), namespace })
const store = keyvStore(keyv)
let release = (): void => {}
const released = new Promise<void>((resolve) => (release = resolve))
const tell = (told: Told): void => void process.send?.(told)

function agentOf({ circuit, openMs, model }: Order): Agent {
  const client = scriptedClient(async () => {
    tell('asked')
    if (model === 'waits') await released
    if (model === 'fails') throw failure('overloaded')
    return 'Hello.'
  })
  const middleware = circuitBreaker({
    store,
    circuitOf: () => circuit,
    minimum: 4,
    openMs,
    // A process that stands still takes its store for one that does not answer.
    storeTimeoutMs: Infinity,
    onEvent: ({ status }) => status === 'opened' && tell('opened'),
  })
  return new Agent({ client, middleware })
}

process.on('message', (order: Order | 'go') => {
  if (order === 'go') return release()
  const agent = agentOf(order)
  for (let count = 0; count < order.calls; count++) {
    void rejection(agent.run('Hi')).then((error) => {
      tell(error === undefined ? 'answered' : isCircuitOpenError(error) ? 'rejected' : 'failed')
    })
  }
})
await keyv.get('connect')
tell('ready')
