// A run as one HTML page: each middleware's changes to the request and the stream, and the reason for the end.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, ProviderError, tool } from '@lamella/core'
import { maxTokens } from '@lamella/guardrail-tokens'
import { pii } from '@lamella/guardrail-pii'
import { retry } from '@lamella/middleware-retry'
import { pictureOf, recorder, textOf } from '@lamella/picture'
import { filesIn } from '@lamella/picture/file'
import { callFunction, scriptedClient } from '@lamella/testing'

const folder = await mkdtemp(join(tmpdir(), 'runs-'))
const files = filesIn(folder)

// Facts only: lengths, names, times. `capture: 'full'` also records the text.
const record = recorder({ sink: files, prices: { 'm-1': { input: 3, output: 15 } } })

const find = tool({ name: 'find_order', description: 'Finds an order.', execute: () => 'shipped' })
const agent = new Agent({
  name: 'shop',
  client: scriptedClient(
    [
      callFunction('find_order', { customer: 'ada@example.org' }),
      new ProviderError('busy', { kind: 'overloaded', provider: 'scripted' }),
      'Your order has been shipped.',
    ],
    { model: 'm-1' },
  ),
  tools: [find],
  // This list has a probe between neighboring middleware, and replaces the plain list.
  middleware: record.middleware([maxTokens({ maxInputTokens: 1000 }), pii(), retry()]),
})

await agent.run('Where is my order? I am ada@example.org.', { stream: true }).finalResponse()
await record.flush()

const recording = await readFile(files.latest!, 'utf8')
const page = files.latest!.replace('.jsonl', '.html')
await writeFile(page, pictureOf(recording))

console.log(textOf(recording))
console.log(`The page: ${page.slice(folder.length + 1)}`)

assert.match(textOf(recording), /2 attempts/)
assert.match(textOf(recording), /pii .*changed request/)
assert.doesNotMatch(recording, /ada@example\.org|shipped/)
await rm(folder, { recursive: true })
