// The OpenAI client on `fetch`: no SDK is loaded. A local server answers.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent } from '@lamella/core'
import { OpenAIChatCompletionsClient } from '@lamella/openai/fetch'

const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c1', model: 'local', choices: [{ index: 0, delta, finish_reason }] })}\n\n`

const server = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const content of ['The ', 'Douro ', 'flows.']) response.write(chunk({ content }))
  response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

const agent = new Agent({
  client: new OpenAIChatCompletionsClient({
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    model: 'local',
  }),
})

for await (const piece of agent.run('Which river?', { stream: true }).text()) {
  process.stdout.write(piece)
}
console.log()

server.closeAllConnections()
server.close()
