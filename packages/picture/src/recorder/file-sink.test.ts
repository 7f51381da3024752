import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readRecording } from '../reading/read-recording.ts'
import { filesIn, toFile } from './file-sink.ts'
import { recorder } from './recorder.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'picture-files-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

it('writes a file for each run, which nobody else may read', async () => {
  const sink = filesIn(join(folder, 'deep', 'runs'))
  const record = recorder({ sink })
  const client = scriptedClient(() => 'Hello.')
  const agent = new Agent({ name: '../evil/name', client, middleware: record.middleware() })

  await Promise.all([agent.run('Hi', { runId: '../../up' }), agent.run('Hi')])
  await record.flush()

  const names = await readdir(join(folder, 'deep', 'runs'))
  expect(names).toHaveLength(2)
  expect(names.every((name) => /^[\w-]+\.jsonl$/.test(name))).toBe(true)
  expect((await stat(sink.latest!)).mode & 0o777).toBe(0o600)
  expect(readRecording(await readFile(sink.latest!, 'utf8'))[0]?.end?.status).toBe('completed')
})

it('appends runs to one file, each to be seen', async () => {
  const path = join(folder, 'all.jsonl')
  for (let process = 0; process < 2; process++) {
    const record = recorder({ sink: toFile(path) })
    const agent = new Agent({
      client: scriptedClient(() => 'Hello.'),
      middleware: record.middleware(),
    })
    await Promise.all([agent.run('One'), agent.run('Two')])
    await record.flush()
  }

  const runs = readRecording(await readFile(path, 'utf8'))

  expect(runs.map(({ end }) => end?.status)).toEqual(Array.from({ length: 4 }, () => 'completed'))
})
