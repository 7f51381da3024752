// An agent over HTTP: a chat that the server stores, an approval that its customer may not give, and a reader.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, jsonSchema, memoryStore, tool } from '@lamella/core'
import { chatService, toNode } from '@lamella/serve'
import { chatReader } from '@lamella/serve/client'
import { sseHandler } from '@lamella/serve/sse'
import { callFunction, scriptedClient } from '@lamella/testing'

const paid: unknown[] = []
const refund = tool({
  name: 'refund',
  description: 'Pays an order back.',
  parameters: jsonSchema({ type: 'object', properties: { euros: { type: 'number' } } }),
  approval: 'always',
  execute: (args) => {
    paid.push(args)
    return 'paid'
  },
})
const client = scriptedClient([callFunction('refund', { euros: 500 }), 'You get 50 euros back.'])
const chats = chatService(new Agent({ client, tools: [refund] }), {
  store: memoryStore(), // one of `@lamella/store-redis` or `-postgres` for many processes
  // A real service reads a cookie that it has signed.
  principal: (request) => request.headers.get('x-user') ?? undefined,
  mayApprove: ({ principal }) => principal.id === 'manager',
})
const server = createServer(toNode(sseHandler(chats)))
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

// The customer's page.
const page = chatReader({ url, chat: 'order-7', headers: { 'x-user': 'ann' } })
await page.send('I want my money back!')
const [request] = page.state.pending
console.log(`waits for ${request?.name} ${request?.arguments}, may answer: ${request?.mayAnswer}`)

// The customer tries.
await page.answer({ [request!.id]: true })
console.log(`the customer approves: ${page.state.code}, paid ${paid.length} times`)
assert.deepEqual(paid, [])

// A manager approves on a page of their own, which calls the server's own code.
const answer = { approved: true, arguments: { euros: 50 } }
await chats.answer({ principal: 'ann', chat: 'order-7' }, { [request!.id]: answer })
await page.load()
console.log(page.state.messages.at(-1)?.contents[0]?.text)
assert.deepEqual(paid, [{ euros: 50 }])

server.closeAllConnections()
server.close()
