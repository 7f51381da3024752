// Gemini with a tool: the signature of its call goes back in its place. A local server answers.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, jsonSchema, tool } from '@lamella/core'
import { GoogleChatClient } from '@lamella/google'

const call = {
  functionCall: { name: 'get_weather', args: { city: 'Porto' } },
  thoughtSignature: 'c2lnbmVk',
}
const answers = [[call], [{ text: 'Take an umbrella.' }]]

// oxlint-disable-next-line typescript/no-misused-promises
const server = createServer(async (request, response) => {
  let body = ''
  for await (const piece of request) body += piece
  const signed = JSON.parse(body).contents.at(-2)?.parts[0].thoughtSignature
  if (signed !== undefined) console.log(`the signature came back: ${signed}`)
  const content = { role: 'model', parts: answers.shift() }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ candidates: [{ content, finishReason: 'STOP' }] }))
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

const agent = new Agent({
  client: new GoogleChatClient({
    apiKey: 'none',
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    model: 'gemini-3.8-flash',
  }),
  tools: [
    tool({
      name: 'get_weather',
      description: 'Tells the weather of a city.',
      parameters: jsonSchema({ type: 'object', properties: { city: { type: 'string' } } }),
      execute: ({ city }) => `rain in ${String(city)}`,
    }),
  ],
})

console.log((await agent.run('What do I need in Porto?')).text)

server.closeAllConnections()
server.close()
