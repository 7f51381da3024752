import { Agent } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import { mcpTools } from '../index.ts'
import { listen } from '../local-http.test-helper.ts'

const words = 'paid; "_meta": null is no field'
const writers: Readonly<Record<string, (answer: object) => string>> = {
  'application/json': (answer) => JSON.stringify(answer, null, 1),
  'text/event-stream': (answer) => `event: message\r\ndata: ${JSON.stringify(answer)}\r\n\r\n`,
}

test.each(Object.keys(writers))('a result with a `_meta` of null is read: %s', async (type) => {
  await using server = await listen((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end()
      const { id, method } = JSON.parse(body) as { id?: number; method: string }
      if (id === undefined) return void response.writeHead(202).end()
      const answers: Readonly<Record<string, object>> = {
        initialize: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'bank', version: '1' },
        },
        'tools/list': { tools: [{ name: 'pay', inputSchema: { type: 'object' } }] },
        'tools/call': { content: [{ type: 'text', text: words, _meta: null }] },
      }
      const result = { ...answers[method], _meta: null }
      const text = writers[type]!({ jsonrpc: '2.0', id, result })
      response.writeHead(200, { 'content-type': type })
      // In two pieces, within the field.
      const cut = text.lastIndexOf('_meta') + 3
      response.write(text.slice(0, cut), () => response.end(text.slice(cut)))
    })
  })
  const mcp = mcpTools({ url: server.url, protocol: 'legacy' }, { name: 'bank' })
  const client = scriptedClient([callFunction('bank_pay'), 'Done.'])

  await new Agent({ client, middleware: mcp }).run('Pay.')
  await mcp.close()

  const [result] = client.requests[1]!.messages.at(-1)!.contents
  expect(result).toMatchObject({ contents: [{ type: 'text', text: words }] })
})
