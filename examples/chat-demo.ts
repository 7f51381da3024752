// A chat page without a build step: `npm run demo`. Without a key, a local model server answers.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNode } from '@lamella/serve'
import { chatApp } from './chat/chat-app.ts'
import { standIn } from './chat/stand-in.ts'
import { chooseModel } from './docs-assistant/chosen-model.ts'

const isReal = [
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'ANTHROPIC_API_KEY',
  'GEMINI_API_KEY',
  'AZURE_OPENAI_ENDPOINT',
].some((name) => process.env[name])
const model = isReal ? await chooseModel(process.env, false) : undefined
const secret = crypto.randomUUID()
const app = await chatApp(model?.client ?? standIn(), { secret })
const server = createServer(toNode(app))
const port = Number(process.env['PORT'] ?? 3000)
server.listen(port, '127.0.0.1', () => {
  const address = `http://localhost:${(server.address() as AddressInfo).port}`
  console.log(
    `${address} answers with ${model?.name ?? 'a stand-in; set OPENAI_API_KEY for a model'}`,
  )
  console.log(`${address}/manager?secret=${secret} shows what waits for a manager`)
})
