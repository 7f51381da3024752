import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'

// The compiler must tell newcomers what to write.

const root = resolve(import.meta.dirname, '../..')
const mistakes: readonly (readonly [code: string, meant: string])[] = [
  [
    `new Agent({ client, tools: [{ name: 'a', description: 'b', execute: () => 1 }] })`,
    "'make it with tool({ … })'",
  ],
  [
    `new Agent({ client, tools: [{ type: 'function', name: 'a', description: 'b', parameters: {} }] })`,
    "'make it with tool({ … })'",
  ],
  [`new Agent({ client, middleware: [retry] })`, "'call it, as retry(), or wrap it with"],
  [
    `new Agent({ client, middleware: [async (context: unknown, next: () => Promise<void>) => next()] })`,
    'or wrap it with chatMiddleware()',
  ],
  [`new Agent({ client }).run('Hi', { sesion: 1 })`, "Did you mean to write 'session'?"],
  [`new Agent({ client }).run('Hi', { session: 'chat-1' })`, "'Session | SessionReference"],
  [
    `new Agent({ client }).run('Hi', { stream: 'yes' })`,
    "is not assignable to type 'boolean | undefined'",
  ],
  [
    `new Agent({ client }).run('Hi', { stream: true, seed: 5 })`,
    "'seed' does not exist in type 'RunOptions",
  ],
  [`new Agent({ client }).run('Hi', { signal: 5000 })`, "is not assignable to type 'AbortSignal'"],
  [`new Agent({ client }).resume(paused, {}, { sesion: 1 })`, "Did you mean to write 'session'?"],
]
const good = `
const made = tool({ name: 'a', description: 'b', execute: () => 1 })
const options: AgentOptions = { client, tools: [made], middleware: [retry(), [retry()]] }
const agent: Agent = new Agent({ ...options, middleware: [retry(), ...[options.middleware ?? []]] })
const typed: Agent<{ user: string }, number> = new Agent({ client, tools: [made] })
export { agent, typed }`

const folder = mkdtempSync(join(tmpdir(), 'lamella-messages-'))
symlinkSync(join(root, 'examples/node_modules'), join(folder, 'node_modules'))
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
afterAll(() => rmSync(folder, { recursive: true }))

const head = `
import type { AgentOptions, ChatClient, Checkpoint } from '@lamella/core'
import { Agent, tool } from '@lamella/core'
import { retry } from '@lamella/middleware-retry'
declare const client: ChatClient
declare const paused: Checkpoint
`
const lines = mistakes.map(([code], at) => `export const mistake${at} = ${code}`)
writeFileSync(join(folder, 'application.ts'), [head, ...lines, good].join('\n'))
const first = head.split('\n').length + 1

/** Messages of a compiler, by line of the application. */
function messagesOf(compiler: string): Map<number, string> {
  const flags = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--pretty', 'false']
  const modern = ['--module', 'nodenext', '--target', 'es2022', '--skipLibCheck']
  const source = ['--customConditions', '@lamella/source', '--allowImportingTsExtensions']
  const { stdout } = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules', compiler, 'bin/tsc'),
      ...flags,
      ...modern,
      ...source,
      'application.ts',
    ],
    { cwd: folder, encoding: 'utf8' },
  )
  const said = stdout.split(/^(?=\S+\(\d+,)/m).filter((text) => text.startsWith('application.ts'))
  return new Map(said.map((text) => [Number(/\((\d+)/.exec(text)?.[1]), text]))
}

describe.each(['typescript-oldest', 'typescript-api', 'typescript'])('%s', (compiler) => {
  test('says what to write instead, and nothing about good code', () => {
    const messages = messagesOf(compiler)

    expect([...messages.values()].filter((text) => text.includes('No overload matches'))).toEqual(
      [],
    )
    const missed = mistakes.filter(([, meant], at) => !messages.get(first + at)?.includes(meant))
    expect(missed.map(([code]) => [code, messages])).toEqual([])
    expect([...messages.keys()]).toHaveLength(mistakes.length)
  })
})
