// Tools may access files of one folder only, and the model receives only files with the content they claim.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, jsonSchema, tool } from '@lamella/core'
import { fileValidator } from '@lamella/middleware-files'
import { callFunction, scriptedClient } from '@lamella/testing'

const root = mkdtempSync(join(tmpdir(), 'lamella-'))
writeFileSync(join(root, 'notes.md'), 'Tea at four.')
symlinkSync('/etc', join(root, 'etc'))

const read = tool({
  name: 'read',
  description: 'Reads a note.',
  parameters: jsonSchema({
    type: 'object',
    properties: { path: { type: 'string' } },
    required: ['path'],
  }),
  readOnly: true,
  execute: ({ path }) => readFile(String(path), 'utf8'),
})
const refused: string[] = []
const agent = new Agent({
  client: scriptedClient([
    callFunction('read', { path: 'etc/passwd' }),
    callFunction('read', { path: '%2e%2e/%2e%2e/etc/passwd' }),
    callFunction('read', { path: 'notes.md' }),
    'Tea is at four.',
  ]),
  tools: [read],
  middleware: fileValidator({
    paths: { roots: [root] },
    contents: true,
    onEvent: ({ violation }) => void refused.push(violation),
  }),
})
const { text, messages } = await agent.run('When is tea?')
console.log(text, refused)

const page = {
  type: 'data',
  mediaType: 'image/png',
  data: btoa('<html>'),
  name: 'cat.png',
} as const
const blocked = await agent.run([page])
console.log(blocked.status, blocked.block?.category)

rmSync(root, { recursive: true })
assert.deepEqual(refused, ['symlink', 'escape', 'mismatch'])
assert.match(JSON.stringify(messages), /Tea at four/)
assert.equal(blocked.status, 'blocked')
