import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { RunEvent } from '@lamella/core'
import { path, toolPolicy } from '@lamella/guardrail-tools'
import { callFunction } from '@lamella/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { trial } from './local-server.test-helper.ts'
import type { McpCustomServer } from './connection/mcp-server.ts'
import { mcpTools } from './mcp-tools.ts'
import { stdio } from './stdio.ts'

let folder = ''

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'lamella-mcp-')))
  await writeFile(join(folder, 'notes.txt'), 'Buy milk.')
})
afterAll(() => rm(folder, { recursive: true }))

/** A reference server as npm has it. */
function reference(name: string, ...args: string[]): McpCustomServer {
  const manifest = createRequire(import.meta.url).resolve(
    `@modelcontextprotocol/server-${name}/package.json`,
  )
  return stdio({
    command: process.execPath,
    args: [join(dirname(manifest), 'dist/index.js'), ...args],
    env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
    stderr: 'ignore',
  })
}

test('filesystem: reads are allowed, a write asks, and no path leads out', async () => {
  const middleware = toolPolicy({ rules: { '*': { path: path({ roots: [folder] }) } } })
  const write = { path: join(folder, 'new.txt'), content: 'Bought.' }
  const { agent, read, run, servers } = trial(
    reference('filesystem', folder),
    [
      callFunction('files_read_text_file', { path: join(folder, 'notes.txt') }),
      callFunction('files_read_text_file', { path: '/etc/passwd' }),
      callFunction('files_write_file', write),
      'Done.',
    ],
    { name: 'files', trust: 'annotations', middleware },
  )

  const paused = await run()
  expect(read()).toContain('Buy milk.')
  expect(read()).toContain('denied by policy')
  expect(paused.pending).toMatchObject([
    { kind: 'approval', request: { call: { name: 'files_write_file' } } },
  ])

  const response = await agent.resume(paused.checkpoint!, { [paused.pending[0]!.id]: true })
  await servers.close()
  expect(response.text).toBe('Done.')
  expect(await readFile(write.path, 'utf8')).toBe('Bought.')
})

test('memory: what one run stores, another reads', async () => {
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['likes tea'] }]
  const { read, run, servers } = trial(reference('memory'), [
    callFunction('mcp_create_entities', { entities }),
    'Stored.',
    callFunction('mcp_search_nodes', { query: 'tea' }),
    'Found.',
  ])

  await run()
  await run()
  await servers.close()

  expect(read()).toContain('Ada')
})

test('everything: images, structure, progress, questions, resources and prompts', async () => {
  const seen: RunEvent[] = []
  const { client, read, run, servers } = trial(reference('everything'), [
    [
      callFunction('mcp_get-tiny-image'),
      callFunction('mcp_get-structured-content', { location: 'Chicago' }),
      callFunction('mcp_trigger-long-running-operation', { duration: 0.2, steps: 2 }),
    ],
    callFunction('mcp_trigger-elicitation-request'),
    'Done.',
  ])

  await run({
    onEvent: (event) => seen.push(event),
    onRequest: ({ type }) => (type === 'mcp/elicitation' ? { action: 'decline' } : undefined),
  })
  const resources = await servers.resources()
  const resource = await servers.readResource(resources[0]!.uri)
  const prompts = await servers.prompts()
  const prompt = await servers.getPrompt(prompts.find((one) => one.arguments.length === 0)!.name)
  await servers.close()

  expect(JSON.stringify(client.requests[1]?.messages)).toContain('"mediaType":"image/png"')
  expect(read()).toContain('temperature')
  expect(read()).toMatch(/declined/i)
  expect(seen.filter(({ type }) => type === 'tool-progress').length).toBeGreaterThan(0)
  expect(resource.contents.length).toBeGreaterThan(0)
  expect(prompt.length).toBeGreaterThan(0)
})

test('all names of the reference servers fit, and none is lost', async () => {
  for (const name of ['memory', 'everything']) {
    await using servers = mcpTools(reference(name))
    const tools = await servers.tools()

    expect(tools.length).toBeGreaterThan(5)
    expect(tools.every((tool) => /^[\w-]{1,64}$/.test(tool.name))).toBe(true)
  }
})
