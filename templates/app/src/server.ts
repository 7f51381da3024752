import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { OpenAIChatClient } from '@lamella/openai/fetch'
import { toNode } from '@lamella/serve'
import { sqliteStore } from '@lamella/store-sqlite'
import { supportAgent } from './agent.ts'
import { memoryOrders } from './orders.ts'
import { supportChats, supportService } from './service.ts'

const { OPENAI_API_KEY: apiKey, OPENAI_MODEL: model = 'gpt-5-mini', PORT, SECRET } = process.env
// Another machine, or the host of a container, needs `HOST=0.0.0.0`.
const { HOST = '127.0.0.1' } = process.env

const client =
  apiKey === undefined
    ? (await import('./stand-in.ts')).standIn()
    : new OpenAIChatClient({ apiKey, model })
const store = sqliteStore('app.db') // one of `@lamella/store-redis` or `-postgres` for many machines
const agent = supportAgent({ client, store, orders: memoryOrders() })
// Without a secret of yours, visitors are forgotten when the server stops.
const secret = SECRET ?? randomBytes(32).toString('hex')
const service = supportService(supportChats(agent, secret), secret)

const server = createServer(toNode(service))
server.listen(Number(PORT ?? 3000), HOST, () => {
  const { port } = server.address() as AddressInfo
  const answers = apiKey === undefined ? 'a stand-in; set OPENAI_API_KEY for a model' : model
  console.log(`http://localhost:${port} answers with ${answers}`)
})
