// What recording costs: a run with one tool round, and an update of a stream, through three middlewares that
// pass everything on, with and without `@lamella/picture` around them. Own CPU time, lines made and handed
// to a sink in memory.
// usage: node --conditions=@lamella/source bench/recording.mjs [rounds]
import { Agent, chatMiddleware, tool } from '@lamella/core'
import { recorder } from '@lamella/picture'
import { callFunction, scriptedClient } from '@lamella/testing'

const rounds = Number(process.argv[2] ?? 9)
const sink = { write: () => {} }
const pass = (name) =>
  chatMiddleware(name, async (context, callNext) => {
    context.transformUpdates({ transform: (update, controller) => controller.enqueue(update) })
    await callNext()
  })
const list = [pass('a'), pass('b'), pass('c')]
const next = tool({ name: 'next', description: 'The next one.', execute: () => 'done' })
const words = Array.from({ length: 2000 }, (_, at) => `word${at % 10} `)

const ways = {
  'not recorded': undefined,
  off: recorder({ sink, mode: 'off' }),
  facts: recorder({ sink }),
  full: recorder({ sink, capture: 'full' }),
}

function agentWith(record, steps) {
  const middleware = record === undefined ? list : record.middleware(list)
  return new Agent({ client: scriptedClient(steps), tools: [next], middleware })
}

/** CPU time of this process for one of `times`, in microseconds. */
async function cpuOf(times, work, record) {
  const start = process.cpuUsage()
  for (let at = 0; at < times; at++) await work()
  await record?.flush()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / times
}

const scenarios = {
  'a run with one tool round': {
    times: 300,
    parts: 1,
    work: (record) => {
      const reply = ({ messages }) =>
        messages.at(-1).role === 'tool' ? 'It is done.' : callFunction('next')
      const agent = agentWith(record, reply)
      return () => agent.run('Go on.')
    },
  },
  'an update of a stream': {
    times: 3,
    parts: words.length,
    work: (record) => {
      const updates = [...words, { finishReason: 'stop' }]
      const agent = agentWith(record, () => ({ updates }))
      return () => agent.run('Go on.', { stream: true }).finalResponse()
    },
  },
}

for (const [scenario, { times, parts, work }] of Object.entries(scenarios)) {
  const best = {}
  // By turns, so that what else the machine does falls on all of them.
  for (let round = 0; round < rounds; round++) {
    for (const [way, record] of Object.entries(ways)) {
      const micros = (await cpuOf(times, work(record), record)) / parts
      best[way] = Math.min(best[way] ?? Infinity, micros)
    }
  }
  console.log(scenario)
  for (const [way, micros] of Object.entries(best)) {
    const added = micros - best['not recorded']
    console.log(`  ${way.padEnd(13)} ${micros.toFixed(2)} µs, ${added.toFixed(2)} µs added`)
  }
}
