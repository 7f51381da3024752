import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, it } from 'vitest'

const template = resolve(import.meta.dirname, '../../../templates/app')
const folder = mkdtempSync(join(tmpdir(), 'lamella-app-'))
const servers: ChildProcess[] = []
afterAll(() => {
  for (const server of servers) server.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** Starts the app of the template with these variables alone, and resolves to its port and its first line. */
async function started(variables = {}): Promise<{ port: number; line: string }> {
  const env = { PATH: process.env['PATH'], PORT: '0', ...variables }
  const args = ['--conditions=@lamella/source', join(template, 'src/server.ts')]
  const child = spawn(process.execPath, args, { cwd: folder, env })
  servers.push(child)
  let said = ''
  return new Promise((done, failed) => {
    child.stderr.on('data', (piece) => (said += String(piece)))
    child.once('exit', () => failed(new Error(said)))
    child.stdout.on('data', (piece) => {
      const [line, port] = /localhost:(\d+).*(?=\n)/.exec((said += String(piece))) ?? []
      if (line !== undefined) done({ port: Number(port), line })
    })
  })
}

/** Tells whether anybody listens there. */
function answers(host: string, port: number): Promise<boolean> {
  return new Promise((done) => {
    // For a firewall that does not answer. A process that stands still for longer than this would see one.
    const socket = connect({ host, port, timeout: 30_000 })
    const end = (isOpen: boolean) => () => {
      socket.destroy()
      done(isOpen)
    }
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false))
  })
}

it('a new app listens for this machine alone', async () => {
  const { port } = await started()
  const outside = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')

  expect(await answers('127.0.0.1', port)).toBe(true)
  expect(await Promise.all(outside.map(({ address }) => answers(address, port)))).toEqual(
    outside.map(() => false),
  )
})

it.each([
  ['OPENAI_API_KEY', 'openai/gpt-5-mini'],
  ['ANTHROPIC_API_KEY', 'anthropic/claude-sonnet-5-5'],
  ['GEMINI_API_KEY', 'google/gemini-3.8-flash'],
])('with %s, a new app answers with %s', async (variable, model) => {
  const { line } = await started({ [variable]: 'key' })

  expect(line).toContain(`answers with ${model}`)
})

it('the page of a new app has no way to write anything but text nodes', () => {
  const sinks =
    /(?:inner|outer)HTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|setHTML|srcdoc|\beval\(|new Function|javascript:|\son\w+=/g
  const read = (name: string): string => readFileSync(join(template, 'page', name), 'utf8')

  expect(['page.js', 'index.html'].flatMap((name) => read(name).match(sinks) ?? [])).toEqual([])
})
