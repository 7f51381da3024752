// Tools of an MCP server for the files of one folder: reads are allowed, a write asks a person.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from '@lamella/core'
import { path, toolPolicy } from '@lamella/guardrail-tools'
import { mcpTools } from '@lamella/mcp'
import { stdio } from '@lamella/mcp/stdio'
import { callFunction, scriptedClient } from '@lamella/testing'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'lamella-')))
writeFileSync(join(root, 'notes.md'), 'Tea at four.')
const { resolve } = createRequire(import.meta.url)
const program = resolve('@modelcontextprotocol/server-filesystem/dist/index.js')

// `trust`: you have reviewed this server, so the policy relies on its descriptions of tools.
const files = mcpTools(
  stdio({ command: process.execPath, args: [program, root], stderr: 'ignore' }),
  { name: 'files', trust: 'annotations', tools: ['read_text_file', 'write_file'] },
)
const paths = { path: path({ roots: [root] }) }
const agent = new Agent({
  client: scriptedClient([
    callFunction('files_read_text_file', { path: '/etc/passwd' }),
    callFunction('files_read_text_file', { path: join(root, 'notes.md') }),
    callFunction('files_write_file', { path: join(root, 'notes.md'), content: 'Tea at five.' }),
    'Tea is at five now.',
  ]),
  middleware: [files, toolPolicy({ rules: { 'files_*': paths } })],
})

const paused = await agent.run('Move tea by an hour.')
const results = JSON.stringify(paused.messages)
const [request] = paused.pending
assert(paused.checkpoint && request?.kind === 'approval')
console.log('asked for', request.request.call.name)

const { text } = await agent.resume(paused.checkpoint, { [request.id]: true })
console.log(text)

// Ends the server, too.
await agent[Symbol.asyncDispose]()

assert.match(results, /denied by policy/)
assert.match(results, /Tea at four/)
assert.equal(readFileSync(join(root, 'notes.md'), 'utf8'), 'Tea at five.')
rmSync(root, { recursive: true })
