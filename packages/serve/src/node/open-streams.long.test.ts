import { mkdtempSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Agent } from '@lamella/core'
import { OpenAIChatCompletionsClient } from '@lamella/openai/fetch'
import { sqliteStore } from '@lamella/store-sqlite'
import { afterAll, expect, test } from 'vitest'
import { chatService } from '../chats/chat-service.ts'
import { sseHandler } from '../sse/sse-handler.ts'
import { toNode } from './to-node.ts'

const count = 30

const folder = mkdtempSync(join(tmpdir(), 'lamella-streams-'))
const servers: Server[] = []
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
  rmSync(folder, { recursive: true })
})

async function listen(server: Server, place: string | number): Promise<Server> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(place as string, resolve))
  return server
}

const connectionsOf = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((_, open) => resolve(open)))

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
function memoryMB(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  return expect.poll(isTrue, { interval: 100 }).toBe(true)
}

/** A provider whose answers have no end. It writes as fast as it is read. */
async function endlessProvider() {
  let sent = 0
  const delta = { content: 'x'.repeat(20_000) }
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const line = `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta }] })}\n\n`
  const server = await listen(
    createServer((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const write = (): void => {
        do sent++
        while (!response.destroyed && response.write(line))
      }
      response.on('drain', write)
      write()
    }),
    0,
  )
  const { port } = server.address() as AddressInfo
  return { server, sent: () => sent, baseURL: `http://127.0.0.1:${port}/v1` }
}

test(`memory is level under ${count} readers that are slow or read nothing, and nothing is left of those that vanish`, async () => {
  const { server: upstream, sent, baseURL } = await endlessProvider()
  const client = new OpenAIChatCompletionsClient({ apiKey: 'k', baseURL, model: 'm' })
  const agent = new Agent({ client, store: sqliteStore(join(folder, 'store.db')) })
  const service = chatService(agent, { principal: () => 'ann', onError: () => {} })
  // Unlike those of an address, buffers of a file do not grow with what is sent.
  const place = join(folder, 'socket')
  const server = await listen(createServer(toNode(sseHandler(service))), place)
  const open = (at: number): Socket => {
    const socket = connect(place)
    const body = JSON.stringify({ chat: `c${at}`, input: 'Hi' })
    const head = `content-type: application/json\r\ncontent-length: ${body.length}`
    socket.on('error', () => {})
    socket.write(`POST /chat HTTP/1.1\r\nhost: localhost\r\n${head}\r\n\r\n${body}`)
    return socket
  }
  const isStill = async (): Promise<boolean> => {
    const before = sent()
    // Turns, not a time: a process that stands still for a moment sends nothing meanwhile.
    for (let turn = 0; turn < 20; turn++) await sleep(25)
    return sent() === before
  }
  const before = memoryMB()

  const sockets = Array.from({ length: count }, (_, at) => open(at))
  const [slow, vanishing] = [0, 1].map((rest) => sockets.filter((_, at) => at % 3 === rest))
  for (const socket of vanishing!) socket.once('data', () => socket.destroy())
  const left = count - vanishing!.length
  await until(async () => (await connectionsOf(upstream)) === left && (await isStill()))
  const unread = memoryMB()
  for (const socket of slow!) socket.once('data', () => socket.pause())
  await until(isStill)
  const level = [memoryMB()]
  await sleep(1000)
  level.push(memoryMB())
  const hasRun = await service.history({ principal: 'ann', chat: 'c0' })
  for (const socket of sockets) socket.destroy()
  await until(async () => (await connectionsOf(server)) + (await connectionsOf(upstream)) === 0)
  // All of them are saved.
  await until(async () => {
    const all = sockets.map((_, at) => service.history({ principal: 'ann', chat: `c${at}` }))
    return (await Promise.all(all)).every(({ running }) => !running)
  })
  // Finalizers take a few collections.
  await until(() => memoryMB() < before + 30)

  // Megabytes of each stream: the text that the system's buffers took, once, and what `fetch` reads ahead.
  expect((unread - before) / left).toBeLessThan(2)
  expect(level[1]! - level[0]!).toBeLessThan(5)
  expect(hasRun.running).toBe(true)
})
