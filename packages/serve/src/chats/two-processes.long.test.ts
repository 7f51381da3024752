import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lastOf } from '../sse/served.test-helper.ts'

const program = fileURLToPath(new URL('chat-process.test-helper.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'lamella-serve-'))
const ledger = join(folder, 'ledger')
const processes: ChildProcess[] = []
const urls: string[] = []

beforeAll(async () => {
  for (let count = 0; count < 2; count++) {
    const execArgv = ['--conditions=@lamella/source']
    processes.push(fork(program, [join(folder, 'store.db'), ledger], { execArgv }))
  }
  for (const child of processes) {
    const [port] = (await once(child, 'message')) as [number]
    urls.push(`http://127.0.0.1:${port}/chat`)
  }
})
afterAll(async () => {
  const exits = processes.map((child) => once(child, 'exit'))
  for (const child of processes) child.kill()
  await Promise.all(exits)
  rmSync(folder, { recursive: true })
})

const post = (process: number, body: object) =>
  fetch(urls[process]!, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-user': 'ann' },
    body: JSON.stringify(body),
  })

test('two server processes on one store pay each refund once, whoever answers', async () => {
  const chats = Array.from({ length: 10 }, (_, at) => `chat-${at}`)

  for (const [at, chat] of chats.entries()) {
    const [, { pending }] = await lastOf(await post(at % 2, { chat, input: chat }))
    const demand = { chat, answers: { [pending[0]!.id]: true } }
    const both = await Promise.all([0, 1, 0, 1].map((process) => post(process, demand)))
    const late = await post((at + 1) % 2, demand)

    const statuses = both.map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409])
    expect(late.status).toBe(409)
    await Promise.all([...both, late].map((response) => response.text()))
    const history = await fetch(`${urls[(at + 1) % 2]}?chat=${chat}`, {
      headers: { 'x-user': 'ann' },
    })
    expect(await history.json()).toMatchObject({
      messages: [{ role: 'user' }, { contents: [{ text: 'You have your money back.' }] }],
      pending: [],
      running: false,
    })
  }

  expect(readFileSync(ledger, 'utf8').trim().split('\n').toSorted()).toEqual(chats.toSorted())
})
