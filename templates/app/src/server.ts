import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { clientFor } from '@lamella/clients'
import { toNode } from '@lamella/serve'
import { sqliteStore } from '@lamella/store-sqlite'
import { supportAgent } from './agent.ts'
import { memoryOrders } from './orders.ts'
import { supportChats, supportService } from './service.ts'

if (existsSync('.env')) process.loadEnvFile()
const { PORT, SECRET } = process.env
// In a container, or to let other machines connect, set `HOST=0.0.0.0`.
const { HOST = '127.0.0.1' } = process.env

/** Default model of each provider, by the name of its API key. */
const models = {
  OPENAI_API_KEY: 'openai/gpt-5-mini',
  ANTHROPIC_API_KEY: 'anthropic/claude-sonnet-5-5',
  GEMINI_API_KEY: 'google/gemini-3.8-flash',
}
const known = Object.entries(models).find(([key]) => process.env[key])
const model = process.env['LAMELLA_MODEL'] ?? known?.[1]

const client =
  model === undefined ? (await import('./stand-in.ts')).standIn() : await clientFor(model)
const store = sqliteStore('app.db') // for several machines, use `@lamella/store-redis` or `-postgres`
const agent = supportAgent({ client, store, orders: memoryOrders() })
// Without `SECRET`, visitors lose their chats when the server restarts.
const secret = SECRET ?? randomBytes(32).toString('hex')
const service = supportService(supportChats(agent, secret), secret)

const server = createServer(toNode(service))
server.listen(Number(PORT ?? 3000), HOST, () => {
  const { port } = server.address() as AddressInfo
  const hint = `a stand-in; set ${Object.keys(models).join(' or ')} for a model`
  console.log(`http://localhost:${port} answers with ${model ?? hint}`)
})
