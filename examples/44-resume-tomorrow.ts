// Pause today, resume tomorrow: the checkpoint is JSON in a file. Two processes represent the two days.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Checkpoint } from '@lamella/core'
import { Agent, defineState, checkpointState, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { z } from 'zod'

const prepared = defineState({ name: 'prepared', initial: () => 0, schema: z.number() })

function clerk(steps: Parameters<typeof scriptedClient>[0]): Agent {
  return new Agent({
    client: scriptedClient(steps),
    tools: [
      tool({
        name: 'transfer',
        description: 'Transfers money.',
        approval: 'always',
        execute: (_, { run }) => `transferred, prepared ${run.state.get(prepared)} day before`,
      }),
      tool({
        name: 'prepare',
        description: 'Prepares a transfer.',
        execute: (_, { run }) => run.state.update(prepared, (times) => times + 1),
      }),
    ],
  })
}

const [, , day, file] = process.argv
if (day === 'tomorrow') {
  const saved = JSON.parse(readFileSync(file!, 'utf8')) as Checkpoint
  const answers = Object.fromEntries(checkpointState(saved).pending.map(({ id }) => [id, true]))
  const response = await clerk(['Done.']).resume(saved, answers)
  console.log(`tomorrow: ${response.status}, ${JSON.stringify(response.messages[0]?.contents)}`)
} else {
  const folder = mkdtempSync(join(tmpdir(), 'lamella-'))
  const path = join(folder, 'checkpoint.json')
  const agent = clerk([callFunction('prepare'), callFunction('transfer')])
  const paused = await agent.run('Send Ada 50 euros.')
  writeFileSync(path, JSON.stringify(paused.checkpoint))
  console.log(`today: ${paused.status}, waits for ${paused.pending[0]?.kind}`)

  const args = ['--conditions=@lamella/source', import.meta.filename, 'tomorrow', path]
  const output = execFileSync(process.execPath, args, { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  console.log(output.trim())
  assert.match(output, /completed.*transferred, prepared 1 day before/)
}
