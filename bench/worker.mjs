// The process of one peer. It is sent one command at a time. A batch counts only if every output is
// right and every middleware, model call and tool call really happened.
import { watchLoad } from './lib/load.mjs'
import { batch, firstChunk, largestLead } from './lib/measures.mjs'
import { memory } from './lib/memory.mjs'
import { prepare } from './lib/prepare.mjs'

const file = process.argv[2]
const { default: adapter } = await import(file)
const slots = new Map()

globalThis.fetch = () => Promise.reject(new Error('this benchmark has no network'))

const commands = {
  async prepare({ slot, method, params }) {
    const made = await adapter[method]?.(params)
    if (made === undefined) return { unsupported: true }
    slots.set(slot, prepare(made, method, params))
    return {}
  },
  batch: measured((subject, { ms }) => batch(subject, ms)),
  first: measured((subject, { ms }) => firstChunk(subject, ms)),
  lead: ({ slot }) => largestLead(slots.get(slot)),
  memory: (params) => memory(adapter, params),
}

function measured(measure) {
  return async (message) => {
    const load = watchLoad()
    const result = await measure(slots.get(message.slot), message)
    return { ...result, ...load(result.elapsedNs) }
  }
}

process.on('message', (message) => void answer(message))

async function answer(message) {
  let reply
  try {
    reply = await commands[message.command](message)
  } catch (error) {
    reply = { error: String(error?.stack ?? error) }
  }
  process.send({ id: message.id, ...reply })
}
process.on('disconnect', () => process.exit(0))
process.send({ ready: true })
