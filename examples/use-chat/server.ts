// A chat whose page is React with `useChat` of the AI SDK: `npm run demo:use-chat`. A stand-in answers.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNode } from '@lamella/serve'
import { standIn } from '../chat/stand-in.ts'
import { useChatApp } from './use-chat-app.ts'

const server = createServer(toNode(await useChatApp(standIn())))
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log(`http://localhost:${(server.address() as AddressInfo).port}`)
})
