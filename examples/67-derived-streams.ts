// A stream of an agent can become other streams without losing its final value: mapped to lines of a log, read
// by two readers, handed to code that expects a Web stream, or made before the agent is ready.
import assert from 'node:assert/strict'
import {
  Agent,
  ResponseStream,
  tee,
  toReadableStream,
  type ChatResponseUpdate,
} from '@lamella/core'
import { scriptedClient } from '@lamella/testing'

const agent = new Agent({ client: scriptedClient(['One. Two.', 'One. Two.', 'One. Two.', 'Hi.']) })
const textOf = (update: ChatResponseUpdate) =>
  update.contents.map((content) => (content.type === 'text' ? content.text : '')).join('')

// Other updates and another final value: each piece of text as a line of JSON.
const lines = agent.run('Count.', { stream: true }).flatMap(
  (update) => (textOf(update) === '' ? [] : [JSON.stringify({ text: textOf(update) })]),
  (all) => `${all.length} lines`,
)
for await (const line of lines) console.log(line)
const count = await lines.finalResponse()
console.log(count)

// Two readers of one run: one shows the text, the other counts updates.
const [screen, meter] = tee(agent.run('Count.', { stream: true }))
const [shown, updates] = await Promise.all([
  screen.finalResponse(),
  meter.withFinalizer(async ({ usage }) => usage.totalTokens).finalResponse(),
])
console.log(`${shown.text} (${updates} tokens)`)

// Hooks: one changes updates as they pass, the other the final value. Here a Web stream is read.
const marked = agent
  .run('Count.', { stream: true })
  .withTransformHook((update) => ({ ...update, metadata: { ...update.metadata, seen: true } }))
let seen = 0
for await (const update of toReadableStream(marked))
  seen += update.metadata?.['seen'] === true ? 1 : 0

// A stream that nobody has made yet: the function is called with the first pull.
const later = ResponseStream.fromAwaitable(async () => agent.run('Hello', { stream: true }))
console.log((await later.withResultHook(({ text }) => console.log(text)).finalResponse()).status)

assert.match(count, /^[1-9]\d* lines$/)
assert.equal(shown.text, 'One. Two.')
assert.ok(seen > 0)
