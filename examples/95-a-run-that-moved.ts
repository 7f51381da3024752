// A run that moves between processes: a page reads it from a store, whichever process runs it, and the recording
// of the second one names the calls that were restored.
import assert from 'node:assert/strict'
import { Agent, foldUpdates, memoryStore, tool } from '@lamella/core'
import { runDurably, storedUpdates } from '@lamella/durable'
import { recorder } from '@lamella/picture'
import { callFunction, scriptedClient } from '@lamella/testing'

const stored = new Map<string, unknown>() // your engine
const shared = memoryStore() // Redis or PostgreSQL, so that all processes see it
const pay = tool({ name: 'pay', description: 'Pays an invoice.', execute: () => 'paid' })
const client = scriptedClient([callFunction('pay'), 'I have paid it.'])

/** A process. It ends after so many steps. Returns the recording of its part of the run, for `pictureOf`. */
async function processThatEnds(afterSteps: number): Promise<string> {
  let recording = ''
  const record = recorder({ sink: { write: (lines: string) => void (recording += lines) } })
  const step = async <Value>(name: string, work: () => Promise<Value>): Promise<Value> => {
    if (!stored.has(name)) stored.set(name, await work())
    if (--afterSteps === 0) throw new Error('the process is gone')
    return stored.get(name) as Value
  }
  const agent = new Agent({ client, tools: [pay], middleware: record.middleware([]) })
  const engine = { id: 'invoice-17', step, updates: storedUpdates(shared) }
  await runDurably(agent, 'Pay invoice 17.', engine).catch(() => {})
  await record.flush()
  return recording
}
await processThatEnds(3)
const recording = await processThatEnds(Infinity)
const restored = [...recording.matchAll(/"restored":"([^"]*)"/g)].map(([, step]) => step)
console.log(restored) // [ 'model 0', 'tool pay call_1' ]
assert.deepEqual(restored, ['model 0', 'tool pay call_1'])

const page = storedUpdates(shared).read('invoice-17')
const updates = []
for await (const update of page) updates.push(update)
console.log(foldUpdates(updates).text)
assert.equal((await page.finalResponse()).text, 'I have paid it.')
