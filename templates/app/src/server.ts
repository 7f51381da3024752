import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { clientFor } from '@lamella/clients'
import { toNode } from '@lamella/serve'
import { sqliteStore } from '@lamella/store-sqlite'
import { supportAgent } from './agent.ts'
import { memoryOrders } from './orders.ts'
import { supportChats, supportService } from './service.ts'

const { PORT, SECRET } = process.env
// Another machine, or the host of a container, needs `HOST=0.0.0.0`.
const { HOST = '127.0.0.1' } = process.env

/** Models of providers, by the key that must be there. */
const models = {
  OPENAI_API_KEY: 'openai/gpt-5-mini',
  ANTHROPIC_API_KEY: 'anthropic/claude-sonnet-5-5',
  GEMINI_API_KEY: 'google/gemini-3.8-flash',
}
const known = Object.entries(models).find(([key]) => process.env[key])
const model = process.env['LAMELLA_MODEL'] ?? known?.[1]

const client =
  model === undefined ? (await import('./stand-in.ts')).standIn() : await clientFor(model)
const store = sqliteStore('app.db') // one of `@lamella/store-redis` or `-postgres` for many machines
const agent = supportAgent({ client, store, orders: memoryOrders() })
// Without a secret of yours, visitors are forgotten when the server stops.
const secret = SECRET ?? randomBytes(32).toString('hex')
const service = supportService(supportChats(agent, secret), secret)

const server = createServer(toNode(service))
server.listen(Number(PORT ?? 3000), HOST, () => {
  const { port } = server.address() as AddressInfo
  const hint = `a stand-in; set ${Object.keys(models).join(' or ')} for a model`
  console.log(`http://localhost:${port} answers with ${model ?? hint}`)
})
