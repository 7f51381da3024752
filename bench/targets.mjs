// What `--check` holds: ratios of two measurements that are made back to back, and the memory of a
// long stream.
import { longStream } from './scenarios.mjs'

const modelCall = (peer, k) => ({ peer, method: 'modelCall', params: { k } })
const agentRun = (peer, k) => ({ peer, method: 'agentRun', params: { rounds: 1, parallel: 1, k } })
const stream = (peer, k) => ({ peer, method: 'stream', params: { chunks: 20_000, k } })

export const ratioTargets = [
  {
    scenario: 'A',
    id: 'ten middlewares, over koa-compose with ten',
    of: modelCall('lamella', 10),
    over: modelCall('koa-compose', 10),
    limit: 2,
  },
  {
    scenario: 'B',
    id: 'one tool round with three middlewares, over bare with three',
    of: agentRun('lamella', 3),
    over: agentRun('bare', 3),
    limit: 2.8,
  },
  {
    scenario: 'C',
    id: '20,000 updates through ten middlewares, over bare with none',
    of: stream('lamella', 10),
    over: stream('bare', 0),
    limit: 2,
  },
  {
    scenario: 'C',
    id: '20,000 updates through thirty middlewares, over ten',
    of: stream('lamella', 30),
    over: stream('lamella', 10),
    limit: 1.2,
  },
  {
    scenario: 'L',
    id: 'a cache hit on ten messages, over JSON.stringify and SHA-256 of the request',
    of: { peer: 'middleware', method: 'hit', params: { of: 'cache' } },
    over: { peer: 'middleware', method: 'hit', params: { of: 'hash' } },
    limit: 2,
  },
]

/** The folded text is one byte a character here; the rest is what may come on top of it. */
export const memoryTarget = {
  peer: 'lamella',
  chunks: longStream.chunks,
  k: 10,
  limitBytes: longStream.chunks * 8 + 3 * 2 ** 20,
}
