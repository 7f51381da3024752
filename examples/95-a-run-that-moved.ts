// A run that moves between processes: a page reads it from a store, whichever process runs it, and the picture of the
// second one shows which calls the first one made. With a path as its argument, the example writes that picture.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { Agent, foldUpdates, memoryStore, tool } from '@lamella/core'
import { runDurably, storedUpdates } from '@lamella/durable'
import { pictureOf, recorder, textOf } from '@lamella/picture'
import { callFunction, scriptedClient } from '@lamella/testing'

const stored = new Map<string, unknown>() // your engine
const shared = memoryStore() // Redis or PostgreSQL, so that all processes see it
const pay = tool({ name: 'pay', description: 'Pays an invoice.', execute: () => 'paid' })
const client = scriptedClient([callFunction('pay'), 'I have paid it.'])

/** A process. It ends after so many steps. Returns the recording of its part of the run. */
async function run(process: string, afterSteps: number): Promise<string> {
  let recording = ''
  const sink = { write: (lines: string) => void (recording += lines) }
  const record = recorder({ sink, capture: 'full' })
  const step = async <Value>(name: string, work: () => Promise<Value>): Promise<Value> => {
    if (!stored.has(name)) stored.set(name, await work())
    if (--afterSteps === 0) throw new Error('the process is gone')
    return stored.get(name) as Value
  }
  const agent = new Agent({
    name: 'cashier',
    client,
    tools: [pay],
    middleware: record.middleware([]),
  })
  const engine = { id: 'invoice-17', process, step, updates: storedUpdates(shared) }
  await runDurably(agent, 'Pay invoice 17.', engine).catch(() => {})
  await record.flush()
  return recording
}
await run('worker-1', 3)
const recording = await run('worker-2', Infinity)
const calls = textOf(recording).split('\n')
console.log(calls.filter((line) => /Model|Tool/.test(line)).join('\n'))
assert.equal(calls.filter((line) => line.includes('restored, made by worker-1')).length, 2)
const [, , path] = process.argv
if (path !== undefined) await writeFile(path, pictureOf(recording))

const page = storedUpdates(shared).read('invoice-17')
const updates = []
for await (const update of page) updates.push(update)
console.log(foldUpdates(updates).text)
assert.equal((await page.finalResponse()).text, 'I have paid it.')
