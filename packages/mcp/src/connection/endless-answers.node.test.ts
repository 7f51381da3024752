import { Agent } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import { mcpTools } from '../index.ts'
import { listen } from '../local-http.test-helper.ts'

const begins = {
  'application/json': '{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"',
  'text/event-stream': 'event: message\ndata: "',
}

test.each(Object.entries(begins))(
  'an answer without an end is read up to the limit: %s',
  async (type, begin) => {
    let sent = 0
    await using server = await listen((request, response) => {
      let body = ''
      request.setEncoding('utf8')
      request.on('data', (piece: string) => (body += piece))
      request.on('end', () => {
        if (request.method !== 'POST') return void response.writeHead(405).end()
        const { id, method } = JSON.parse(body) as { id?: number; method: string }
        if (id === undefined) return void response.writeHead(202).end()
        if (method === 'tools/call') {
          response.writeHead(200, { 'content-type': type }).write(begin)
          const piece = 'x'.repeat(100_000)
          const more = (): void => {
            while (!response.destroyed && sent < 1e9) {
              sent += piece.length
              if (!response.write(piece)) return void response.once('drain', more)
            }
          }
          return more()
        }
        const serverInfo = { name: 's', version: '1' }
        const capabilities = { tools: {} }
        const result =
          method === 'initialize'
            ? { protocolVersion: '2025-06-18', capabilities, serverInfo }
            : { tools: [{ name: 'find', inputSchema: { type: 'object' } }] }
        const answer = JSON.stringify({ jsonrpc: '2.0', id, result })
        response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
      })
    })
    const mcp = mcpTools(
      { url: server.url, protocol: 'legacy' },
      { name: 's', maxResultBytes: 10_000 },
    )
    const client = scriptedClient([callFunction('s_find'), 'Done.'])

    const { text } = await new Agent({ client, middleware: mcp }).run('Go')

    expect(text).toBe('Done.')
    expect(sent).toBeLessThan(20_000_000)
    expect(JSON.stringify(client.requests[1]!.messages.at(-1))).not.toContain('xxx')
  },
)
