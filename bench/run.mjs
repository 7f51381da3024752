// usage: node bench/run.mjs [--scenario A,B,C,M] [--peers bare,ours] [--check] [--middleware]   (see README.md)
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { buildCore } from './lib/build-core.mjs'
import { checkTargets } from './lib/check-targets.mjs'
import { number } from './lib/format.mjs'
import { measureMiddlewares } from './lib/measure-middleware.mjs'
import { measureMemory } from './lib/measure-memory.mjs'
import { measureScenario } from './lib/measure-scenario.mjs'
import { QuietMeter } from './lib/rounds.mjs'
import { startWorker } from './lib/workers.mjs'
import { longStream, scenarios } from './scenarios.mjs'
import * as targets from './targets.mjs'

const { values: options } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    middleware: { type: 'boolean', default: false },
    scenario: { type: 'string', default: 'A,B,C,M' },
    peers: {
      type: 'string',
      default: 'bare,bare-fused,koa-compose,proto,contract,lamella,lamella-agent',
    },
    case: { type: 'string', default: '' },
    floor: { type: 'string', default: 'bare' },
    rounds: { type: 'string', default: '9' },
    ms: { type: 'string', default: '200' },
    warm: { type: 'string', default: '1000' },
    foreign: { type: 'string', default: '0.25' },
    slow: { type: 'string', default: '1.15' },
    retries: { type: 'string', default: '6' },
    'own-time': { type: 'boolean', default: false },
    json: { type: 'string' },
  },
})

const say = (line) => process.stderr.write(`${line}\n`)
// The time that a process uses itself needs no quiet machine.
const isOwnTime = options.middleware || options['own-time']
const meter = new QuietMeter({
  foreign: isOwnTime ? Infinity : Number(options.foreign),
  slow: isOwnTime ? Infinity : Number(options.slow),
  retries: Number(options.retries),
})
const settings = {
  meter,
  say,
  floor: options.floor,
  filter: options.case,
  rounds: Number(options.rounds),
  ms: Number(options.ms),
  warmMs: Number(options.warm),
  ofProcess: isOwnTime,
}

try {
  buildCore()
  if (options.check) await check()
  else if (options.middleware) report({ middleware: await measureMiddlewares(settings) })
  else await measure()
} catch (error) {
  say(`bench: ${error.message}`)
  process.exitCode = 1
}

async function check() {
  const { text, allHold } = await checkTargets(targets, settings)
  console.log(`${text}\n\n${machine()}`)
  if (!allHold) process.exitCode = 1
}

async function measure() {
  const names = options.scenario.split(',').map((name) => name.toUpperCase())
  const unknown = names.find((name) => name !== 'M' && !Object.hasOwn(scenarios, name))
  if (unknown !== undefined) throw new Error(`there is no scenario ${unknown}, only A, B, C and M`)
  const peers = options.peers.split(',').map((peer) => peer.replace(/^ours(?=@|$)/, 'lamella'))

  const results = {}
  const timed = names.filter((name) => name !== 'M')
  const workers = []
  try {
    if (timed.length > 0) for (const peer of peers) workers.push(await startWorker(peer))
    for (const name of timed)
      results[name] = await measureScenario(scenarios[name], workers, settings)
  } finally {
    for (const worker of workers) worker.stop()
  }
  if (names.includes('M')) results.M = await measureMemory(peers, longStream, say)

  report(results)
}

function report(results) {
  const tables = Object.entries(results).map(([name, { text }]) => `Scenario ${name}\n\n${text}\n`)
  console.log([...tables, machine()].join('\n'))
  if (options.json === undefined) return
  writeFileSync(options.json, JSON.stringify({ machine: machine(), results }, null, 1))
}

function machine() {
  const [{ model }] = cpus()
  const where = `Node ${process.versions.node}, ${cpus().length} × ${model}`
  const { batches, repeated, stillNoisy, foreign } = meter.summary()
  if (batches === 0) return where
  return `${where}; ${batches} batches, ${repeated} repeated for noise, ${stillNoisy} noisy all the same, ${number(foreign)} cores of other load (median)`
}
