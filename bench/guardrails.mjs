// What the guardrails on content, three without a detector, and the audit log add to a run of a bare agent: CPU time in
// microseconds of a plain run and of a streamed word, in several short rounds in which all agents take turns. The quietest round and the median.
// usage: node --conditions=@lamella/source bench/guardrails.mjs [rounds] [another checkout, measured in the same turns]
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [rounds = '60', other] = process.argv.slice(2)
const sentence =
  'It is sunny in Rome today, about twenty four degrees, with a light wind from the west. '
const answer = sentence.repeat(3)
const words = Array.from({ length: 20 }, () => answer.match(/\S+\s*/g)).flat()
const usage = { inputTokens: 10, outputTokens: 60 }

async function agentsOf(root) {
  const from = (name) => import(pathToFileURL(`${root}/packages/${name}/src/index.ts`).href)
  const { Agent, BaseChatClient, chatResponse, guardrail } = await from('core')
  const { contentFilter } = await from('guardrail-content')
  const { promptInjection } = await from('guardrail-injection')
  const { pii } = await from('guardrail-pii')
  const { auditLog } = await from('middleware-audit')

  class WeatherClient extends BaseChatClient {
    provider = 'fake'
    async respond() {
      return chatResponse({ messages: answer, usage, finishReason: 'stop', model: 'fake' })
    }
    async *stream() {
      for (const text of words) {
        yield { contents: [{ type: 'text', text }], role: 'assistant', messageId: 'm' }
      }
    }
  }

  const sink = { name: 'none', write: () => {} }
  // What core does for a guardrail, without a detector.
  const allowed = { action: 'allow' }
  const empty = (name) =>
    guardrail({
      name,
      applyTo: ['input', 'instructions', 'output', 'result', 'arguments'],
      check: () => allowed,
      stream: { release: 'window', pending: (text) => text.length },
    })
  return Object.entries({
    bare: [],
    'pii()': pii(),
    'promptInjection()': promptInjection(),
    'contentFilter()': contentFilter(),
    'all three': [pii(), promptInjection(), contentFilter()],
    'auditLog()': auditLog({ sinks: sink }),
    'three empty ones': ['one', 'two', 'three'].map(empty),
  }).map(([name, middleware]) => ({
    name,
    agent: new Agent({ client: new WeatherClient({ model: 'fake' }), middleware }),
    run: [],
    word: [],
  }))
}

let asked = 0
const question = () => `How is the weather in Rome, number ${asked++}?`

async function cpuOf(work) {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

async function runs(agent, count) {
  for (let at = 0; at < count; at++) {
    await agent.run(question())
    if (at % 50 === 0) await new Promise(setImmediate)
  }
}

async function streams(agent, count) {
  for (let at = 0; at < count; at++) {
    for await (const _ of agent.run(question(), { stream: true }));
  }
}

const roots = [resolve(import.meta.dirname, '..'), ...(other ? [resolve(other)] : [])]
const checkouts = await Promise.all(roots.map(agentsOf))
const warmUp = 10
for (let round = 0; round < Number(rounds) + warmUp; round++) {
  const inTurn = round % 2 === 0 ? checkouts : checkouts.toReversed()
  for (const [at] of checkouts[0].entries()) {
    for (const { [at]: entry } of inTurn) {
      const run = (await cpuOf(() => runs(entry.agent, 120))) / 120
      const word = (await cpuOf(() => streams(entry.agent, 3))) / (3 * words.length)
      if (round < warmUp) continue
      entry.run.push(run)
      entry.word.push(word)
    }
  }
}

const best = (times) => Math.min(...times)
const median = (times) => times.toSorted((one, two) => one - two)[times.length >> 1]
const columns = ['a run, best', 'median', 'a word, best', 'median']
for (const [index, entries] of checkouts.entries()) {
  const [bare] = entries
  console.log(index === 0 ? 'over the bare agent' : other)
  console.log(' '.repeat(20) + columns.map((column) => column.padStart(14)).join(''))
  for (const { name, run, word } of entries) {
    const over = (times, least, of) => (name === 'bare' ? of(times) : of(times) - of(least))
    const cells = [best, median]
      .map((of) => over(run, bare.run, of).toFixed(1))
      .concat([best, median].map((of) => over(word, bare.word, of).toFixed(2)))
    console.log(name.padEnd(20) + cells.map((cell) => cell.padStart(14)).join(''))
  }
}
