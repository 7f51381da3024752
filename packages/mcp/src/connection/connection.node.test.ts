import type { RequestListener } from 'node:http'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import type { ScriptedRequest } from '@lamella/testing'
import { callFunction } from '@lamella/testing'
import { expect, test, vi } from 'vitest'
import { echoServer, eventServer, listen, serve, sessionServer } from '../local-http.test-helper.ts'
import { trial } from '../local-server.test-helper.ts'
import { mcpTools } from '../mcp-tools.ts'
import type { StdioOptions } from '../stdio.ts'
import { stdio } from '../stdio.ts'

const calls = [callFunction('mcp_echo'), 'Done.']

function newServer(): McpServer {
  const server = new McpServer({ name: 'echo', version: '2' })
  server.registerTool('echo', { description: 'Says it again.' }, () => ({
    content: [{ type: 'text', text: 'echo' }],
  }))
  return server
}

const options: StdioOptions = {
  command: process.execPath,
  args: [`${import.meta.dirname}/../../fixtures/stdio-server.mjs`],
  stderr: 'ignore',
}
const program = stdio(options)

test.each(['auto', 'legacy'] as const)(
  'a server of SDK 2 over HTTP is reached with %s',
  async (protocol) => {
    await using http = await serve(newServer)
    const { agent, read, run } = trial({ url: http.url, protocol }, calls)

    await run()
    await agent[Symbol.asyncDispose]()

    expect(read()).toBe('echo')
    const versions = http.requests.map(({ headers }) => headers['mcp-protocol-version'])
    expect(versions.at(-1)).toBe(protocol === 'auto' ? '2026-07-28' : '2025-11-25')
  },
)

test('a session that the server forgot is opened again, and the call is made', async () => {
  const server = sessionServer(echoServer)
  await using http = await listen(server.listener)
  const { agent, events, read, run } = trial({ url: http.url }, [...calls, ...calls])

  await run()
  server.forget()
  await run()
  // The second that the server has to answer does not pass.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  await agent[Symbol.asyncDispose]()
  vi.useRealTimers()

  expect(read()).toBe('echo')
  expect(events.map(({ status }) => status)).toEqual(['connected', 'disconnected', 'connected'])
  expect(http.requests.at(-1)?.method).toBe('DELETE')
})

test('a server that only knows events is reached, too', async () => {
  await using http = await listen(eventServer(echoServer), '/sse')
  const { agent, read, run } = trial({ url: http.url }, calls)

  await run()
  await agent[Symbol.asyncDispose]()

  expect(read()).toBe('echo')
})

test('a server of the revision of 2026 tells that its tools changed', async () => {
  const names = ['echo']
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'echo', version: '2' })
    for (const name of names) server.registerTool(name, {}, () => ({ content: [] }))
    return server
  })
  await using http = await listen(toNodeHandler(handler) as RequestListener)
  await using servers = mcpTools({ url: http.url })
  const shown = async (): Promise<string[]> => (await servers.tools()).map(({ name }) => name)

  expect(await shown()).toEqual(['mcp_echo'])
  names.push('reply')
  handler.notify.toolsChanged()

  await expect.poll(shown).toEqual(['mcp_echo', 'mcp_reply'])
})

test('headers go with every request, and a function makes them anew', async () => {
  let count = 0
  await using http = await serve(newServer)
  const headers = (): Record<string, string> => ({ authorization: `Bearer ${++count}` })
  await using servers = mcpTools({ url: http.url, headers })

  await servers.tools()

  const sent = http.requests.map((request) => request.headers.authorization)
  expect(new Set(sent).size).toBe(http.requests.length)
  expect(sent[0]).toBe('Bearer 1')
})

test('a run fails with a clear error while a server cannot be reached, and the next one tries again', async () => {
  const http = await serve(newServer)
  await http[Symbol.asyncDispose]()
  const { run } = trial({ url: http.url })
  const optional = trial({ url: http.url }, ['Done.'], { required: false })

  await expect(run()).rejects.toMatchObject({
    code: 'mcp_unavailable',
    message: 'the MCP server "mcp" cannot be reached',
  })
  expect((await optional.run()).text).toBe('Done.')
  expect(optional.events).toContainEqual(expect.objectContaining({ status: 'unavailable' }))
})

test('a server that accepts and says nothing costs the time limit, and an abort ends the wait', async () => {
  await using http = await listen(() => {})
  const slow = trial({ url: http.url }, ['Done.'], { connectTimeoutMs: 50 })
  const stop = new AbortController()
  const patient = trial({ url: http.url })
  const run = patient.run({ signal: stop.signal })
  setTimeout(() => stop.abort(new Error('enough')), 20)

  await expect(run).rejects.toThrow('enough')
  await expect(slow.run()).rejects.toMatchObject({ code: 'mcp_unavailable' })
  await patient.servers.close()
})

test('a server that went away keeps its tools, whose calls fail at once', async () => {
  const http = await serve(newServer)
  const { read, run, servers } = trial({ url: http.url, protocol: 'legacy' }, [...calls, ...calls])

  await run()
  await http[Symbol.asyncDispose]()
  const { status } = await run()
  await servers.close()

  expect(status).toBe('completed')
  expect(read()).toContain('Function failed.')
})

test.each(['auto', 'legacy'] as const)(
  'a server that breaks off during a call, reached with %s',
  async (protocol) => {
    let breakOff = async (): Promise<void> => {}
    await using http = await serve(() => {
      const server = newServer()
      server.registerTool('break', { description: 'Breaks off.' }, async () => {
        await breakOff()
        return { content: [] }
      })
      return server
    })
    breakOff = async () => http.breakOff()
    const { read, run, servers } = trial({ url: http.url, protocol }, [
      callFunction('mcp_break'),
      'Done.',
    ])

    await run()
    await servers.close()

    expect(read()).toContain('not known whether the call took effect')
  },
)

test('a process that dies is started again', async () => {
  await using servers = mcpTools(program)
  const { read, run } = trial(program, [
    callFunction('mcp_pid'),
    callFunction('mcp_die'),
    callFunction('mcp_pid'),
    'Done.',
  ])
  const before = await servers.tools()

  await run()

  const [first, died, second] = read().split('\n')
  expect(before.map(({ name }) => name)).toContain('mcp_pid')
  expect(died).toContain('not known whether the call took effect')
  expect(Number(second)).toBeGreaterThan(0)
  expect(second).not.toBe(first)
})

test('a process is offered the revision of 2026 where that is asked for', async () => {
  const { read, run, servers } = trial(stdio({ ...options, protocol: 'auto' }), [
    callFunction('mcp_pid'),
    'Done.',
  ])

  await run()
  await servers.close()

  expect(Number(read())).toBeGreaterThan(0)
})

test.each(['auto', 'legacy'] as const)(
  'an agent in a process is called by another one, with %s',
  async (protocol) => {
    const fixture = `${import.meta.dirname}/../../fixtures/stdio-agent.ts`
    const server = stdio({
      command: process.execPath,
      args: ['--conditions=@lamella/source', fixture],
      protocol,
    })
    const { read, run, servers } = trial(server, [
      callFunction('mcp_greeter', { input: 'I am Ada.' }),
      'Done.',
    ])

    await run()
    await servers.close()

    expect(read()).toBe('Hello Ada.')
  },
  60_000,
)

test('fifty runs use one process, and none is left after `close()`', async () => {
  const { agent, client, servers } = trial(program, (request: ScriptedRequest) =>
    request.messages.at(-1)?.role === 'tool' ? 'Done.' : callFunction('mcp_pid'),
  )

  await Promise.all(Array.from({ length: 50 }, () => agent.run('Go.')))
  const results = client.requests.flatMap(({ messages }) => messages.at(-1)!.contents)
  const pids = results.flatMap((part) =>
    part.type === 'function-result' && part.contents[0]?.type === 'text'
      ? part.contents[0].text
      : [],
  )
  await servers.close()

  expect(new Set(pids).size).toBe(1)
  await vi.waitFor(() => expect(() => process.kill(Number(pids[0]), 0)).toThrow('ESRCH'), 60_000)
})

test('a process that hangs is stopped by `close()`, and costs a call its time limit', async () => {
  const { read, run, servers } = trial(program, [callFunction('mcp_hang'), 'Done.'], {
    maxCallMs: 1000,
  })
  await servers.tools()
  await run()
  await servers.close()

  expect(read()).toContain('timed out')
})

test('a process gets no environment but what it is given', async () => {
  vi.stubEnv('SOME_SECRET', 'of this process')
  const { read, run, servers } = trial(stdio({ ...options, env: { GIVEN: 'yes' } }), [
    callFunction('mcp_env'),
    'Done.',
  ])

  await run()
  await servers.close()
  vi.unstubAllEnvs()

  expect(read()).toContain('"GIVEN":"yes"')
  expect(read()).not.toContain('SOME_SECRET')
})

test('a program that does not exist fails with a clear error', async () => {
  const servers = mcpTools(stdio({ command: 'no-such-program-anywhere' }), { name: 'gone' })

  await expect(servers.tools()).rejects.toMatchObject({ code: 'mcp_unavailable' })
})

test.each([
  ['2', Client, StdioClientTransport],
  ['1', OldClient, OldTransport],
])('a connected client of SDK %s is used as it is, and stays open', async (_, Sdk, Transport) => {
  const client = new Sdk({ name: 'mine', version: '1' })
  await client.connect(new Transport(options as never))
  const { agent, read, run } = trial(client, [callFunction('mcp_pid'), 'Done.'])

  await run()
  await agent[Symbol.asyncDispose]()

  expect(Number(read())).toBeGreaterThan(0)
  expect((await client.listTools()).tools.length).toBeGreaterThan(0)
  await client.close()
})
