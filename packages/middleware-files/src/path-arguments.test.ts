import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, jsonSchema, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { fileValidator } from './index.ts'

const root = tmpdir()

/** Returns the arguments that a tool gets, or `undefined` if it is not called. */
async function given(call: Record<string, unknown>): Promise<unknown> {
  let got: unknown
  const write = tool({
    name: 'write',
    description: '',
    parameters: jsonSchema({ type: 'object' }),
    execute: (args) => {
      got = args
    },
  })
  const client = scriptedClient([callFunction('write', call), 'Done.'])
  const middleware = fileValidator({ paths: { roots: [root], fileSystem: empty } })
  await new Agent({ client, tools: [write], middleware }).run('Go')
  return got
}

const nothing = (): Promise<never> =>
  Promise.reject(Object.assign(new Error('nothing there'), { code: 'ENOENT' }))

/** Has a root, and nothing in it. */
const empty = {
  realpath: (path: string) => (path === root ? Promise.resolve(path) : nothing()),
  lstat: nothing,
  stat: nothing,
}

describe('an argument', () => {
  it.each(
    `file files filePath file_path filename FILE sourceFile logfile path paths subpath linuxPath dir
    workdir outDir directory directories baseDirectory folder redirectDir`.split(/\s+/),
  )('named %s is a path', async (key) => {
    expect(await given({ [key]: 'a/b.md' })).toEqual({ [key]: join(root, 'a/b.md') })
    expect(await given({ [key]: '../b.md' })).toBeUndefined()
  })

  it.each(
    ['profile', 'userProfile', 'direction', 'directions', 'director', 'direct', 'redirect'].concat([
      'directive',
      'xpath',
      'title',
    ]),
  )('named %s is none', async (key) => {
    expect(await given({ [key]: '../b:c' })).toEqual({ [key]: '../b:c' })
  })

  it('that says what goes into a file stays as it is, beside its path', async () => {
    const beside = { content: 'See: ../a\n', encoding: 'utf-8', mode: 'w', mimeType: 'text/plain' }
    const files = [{ name: 'a.md', ...beside }]

    expect(await given({ files })).toEqual({ files: [{ name: join(root, 'a.md'), ...beside }] })
    expect(await given({ files: [{ name: '../a.md', ...beside }] })).toBeUndefined()
    expect(await given({ file: { content: { path: '../a.md' } } })).toBeUndefined()
  })
})

it.each([
  ['cwd', '/etc'],
  ['src', '../x'],
  ['target', '~/x'],
  ['output', 'C:\\x'],
  ['root', 'file:///etc'],
  ['uri', 'file:///etc/passwd'],
  ['url', 'FILE:/etc/passwd'],
])('`%s` may hold a path, and %s leads out', async (key, value) => {
  expect(await given({ [key]: value })).toBeUndefined()
})

it.each([
  ['target', 'production'],
  ['target', 'origin/main'],
  ['source', 'web'],
  ['url', 'https://example.com/../x'],
  ['url', '/api/users'],
  ['location', 'Paris / France'],
])('`%s` may hold something else, as %s', async (key, value) => {
  expect(await given({ [key]: value })).toEqual({ [key]: value })
})

it('arguments that are nested too deep to be looked through are refused', async () => {
  const text = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  let called = false
  const write = tool({
    name: 'write',
    description: '',
    parameters: jsonSchema({ type: 'object' }),
    execute: () => {
      called = true
    },
  })
  const call = { ...callFunction('write', {}), arguments: text }
  const client = scriptedClient([call, 'Done.'])
  const middleware = fileValidator({ paths: { roots: [root], fileSystem: empty } })

  const response = await new Agent({ client, tools: [write], middleware }).run('Go')

  expect([response.status, called]).toEqual(['completed', false])
})
