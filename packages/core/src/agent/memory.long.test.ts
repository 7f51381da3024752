import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

const updates = 200_000
const charsEach = 8

const program = `
import { Agent, chatMiddleware } from '@lamella/core'
import { BaseChatClient } from '../index.ts'

class Fast extends BaseChatClient {
  provider = 'fast'
  async respond() { throw new Error('streams only') }
  async *stream() {
    for (let at = 0; at < ${updates}; at++) {
      yield { messageId: 'm', role: 'assistant', contents: [{ type: 'text', text: String(at).padStart(${charsEach}) }] }
    }
    yield { contents: [], finishReason: 'stop' }
  }
}

const middlewares = Array.from({ length: 10 }, (_, at) => chatMiddleware('middleware ' + at, async (context, callNext) => {
  context.transformUpdates({ transform: (update, controller) => controller.enqueue(update) })
  await callNext()
}))
const agent = new Agent({ client: new Fast(), middleware: middlewares })

let peak = 0
const heapUsed = () => {
  globalThis.gc()
  return process.memoryUsage().heapUsed
}
async function read() {
  const stream = agent.run('Hello', { stream: true })
  let seen = 0
  for await (const _ of stream) if (++seen % 40000 === 0) peak = Math.max(peak, heapUsed())
  return stream.finalResponse()
}
await read()
const before = heapUsed()
peak = 0
const response = await read()
process.stdout.write(
  JSON.stringify({ grown: Math.max(peak, heapUsed()) - before, chars: response.text.length }),
)
`

it('a long stream keeps its text and nothing else', () => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      '--expose-gc',
      '--conditions=@lamella/source',
      '--input-type=module',
      '--experimental-strip-types',
      '--eval',
      program,
    ],
    { cwd: import.meta.dirname, encoding: 'utf8' },
  )

  expect(stderr).not.toMatch(/Error/)
  const { grown, chars } = JSON.parse(stdout) as { grown: number; chars: number }
  expect(chars).toBe(updates * charsEach)
  expect(grown - chars).toBeLessThan(3 * 2 ** 20)
})
