import { middlewares } from '../middleware.mjs'
import { duration, table } from './format.mjs'
import { makeProbe } from './probes.mjs'
import { interleave } from './rounds.mjs'
import { median } from './statistics.mjs'
import { startWorker } from './workers.mjs'

const chunks = 1000

/** What a middleware adds is measured beside the bare pipeline, back to back in one process. */
const columns = [
  ['a run with one model call', { method: 'agentRun', params: { rounds: 0 }, by: 1 }],
  ['a run with one tool call', { method: 'agentRun', params: { rounds: 1 }, by: 1 }],
  ['an update of a stream', { method: 'stream', params: { chunks }, by: chunks }],
]

/** A table of what each built-in middleware costs over the bare pipeline. */
export async function measureMiddlewares(settings) {
  const names = Object.keys(middlewares).filter((name) => name.includes(settings.filter))
  const rows = []
  const results = {}
  for (const name of names) {
    const worker = await startWorker('middleware')
    try {
      const cells = []
      for (const [, column] of columns) cells.push(await overhead(worker, name, column, settings))
      results[name] = cells
      rows.push([name, ...cells.map((ns) => (ns < 0 ? 'none to be seen' : duration(ns)))])
      settings.say(rows.at(-1).join(', '))
    } catch (error) {
      settings.say(`! ${name}: ${error.message}`)
      rows.push([name, ...columns.map(() => 'failed')])
    } finally {
      worker.stop()
    }
  }
  return { text: table(['added to', ...columns.map(([title]) => title)], rows), rows: results }
}

async function overhead(worker, middleware, { method, params, by }, settings) {
  const more = { params: { middleware }, by }
  const probe = await makeProbe(worker, { id: middleware, method, params, more }, settings)
  const [{ samples, error }] = await interleave([probe], settings.rounds)
  if (error !== undefined) throw error
  return median(samples.map(({ ns }) => ns))
}
