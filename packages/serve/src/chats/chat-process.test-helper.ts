// A server of its own on a store that others share. Whatever it pays is a line of the ledger.
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, tool } from '@lamella/core'
import { sqliteStore } from '@lamella/store-sqlite'
import { callFunction, scriptedClient } from '@lamella/testing'
import { toNode } from '../node/to-node.ts'
import { sseHandler } from '../sse/sse-handler.ts'
import { chatService } from './chat-service.ts'

const [file = '', ledger = ''] = process.argv.slice(2)
const refund = tool({
  name: 'refund',
  description: 'Pays money back.',
  approval: 'always',
  execute: (_, { callId }) => {
    appendFileSync(ledger, `${callId}\n`)
    return 'paid'
  },
})
const client = scriptedClient(({ messages }) => {
  const last = messages.at(-1)!
  if (last.role === 'tool') return 'You have your money back.'
  const [part] = last.contents
  return callFunction('refund', {}, part?.type === 'text' ? part.text : '')
})
const agent = new Agent({ client, tools: [refund], store: sqliteStore(file) })
const chats = chatService(agent, {
  principal: (request) => request.headers.get('x-user') ?? undefined,
  mayApprove: () => true,
})
const server = createServer(toNode(sseHandler(chats)))
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
