// Applications pin versions, two copies of core work together, and a core that does not fit is told.
import assert from 'node:assert/strict'
import { installed } from './workshop.mjs'

const twoCopies = `import * as older from 'older-core'
import * as core from '@lamella/core'
import { retry } from '@lamella/middleware-retry'
import { scriptedClient } from '@lamella/testing'

const log: string[] = []
const note = older.chatMiddleware('note', async (context, callNext) => {
  const response = await callNext()
  log.push(response.text)
})
const calls = older.functionMiddleware('deny', () => {
  throw new older.MiddlewareTermination('enough', { result: 'Enough.' })
})
const block = { guardrail: 'g', level: 'agent', stage: 'input', category: 'c', message: 'No.' } as const
const guardrail = older.agentMiddleware('guardrail', async (context, callNext) => {
  if (context.run.data === 'block') throw new older.GuardrailTripped(block)
  await callNext()
})
const tool = older.tool({ name: 'work', description: '', execute: () => 'worked' })
const client = scriptedClient([
  'Hi.',
  { messages: [{ role: 'assistant', contents: [{ type: 'function-call', callId: 'c', name: 'work', arguments: '{}' }] }] } as never,
])
const agent = new core.Agent({ client, tools: [tool], middleware: [guardrail, note, calls, retry()] })

const first = await agent.run('Hello')
const second = await agent.run('Hello', { stream: true }).finalResponse()
const third = await agent.run('Hello', { data: 'block' })
const error = new older.LamellaError('x', { code: 'timeout' })
console.log(JSON.stringify([
  first.status, log[0], second.status, third.status, third.text,
  core.LamellaError.is(error, 'timeout'), older.LamellaError.is(new core.ProviderError('y', { kind: 'server', provider: 'p' })),
  core.isTermination(new older.GuardrailTripped(block)), (older.Agent as unknown) === core.Agent,
]))
`

export async function pinnedVersions(workshop, { core, retry, versions }) {
  const { later, major } = versions
  const apps = [core.manifest.version, later].map(async (version) => {
    const folder = workshop.app(`pinned-${version}`, {
      'app.ts': `import { Agent } from '@lamella/core'
import { retry } from '@lamella/middleware-retry'
import { scriptedClient } from '@lamella/testing'
console.log((await new Agent({ client: scriptedClient(['Hi.']), middleware: retry() }).run('Hello')).text)`,
    })
    await workshop.install(
      folder,
      '--save-exact',
      `@lamella/core@${version}`,
      `@lamella/middleware-retry@${version}`,
      '@lamella/testing',
    )
    const own = installed(folder).filter(({ name }) => /core|retry/.test(name))
    assert.deepEqual(own.map((module) => `${module.name} ${module.version}`).toSorted(), [
      `@lamella/core ${version}`,
      `@lamella/middleware-retry ${version}`,
    ])
    assert.equal((await workshop.program(folder, 'app.ts')).trim(), 'Hi.')
  })
  await Promise.all(apps)

  const both = workshop.app('two-copies', { 'app.ts': twoCopies })
  await workshop.install(
    both,
    `@lamella/core@${later}`,
    `older-core@npm:@lamella/core@${core.manifest.version}`,
    `@lamella/middleware-retry@${retry.manifest.version}`,
    '@lamella/testing',
  )
  assert.deepEqual(JSON.parse(await workshop.program(both, 'app.ts')), [
    'completed',
    'Hi.',
    'terminated',
    'blocked',
    'No.',
    true,
    true,
    true,
    false,
  ])

  // Their types fit, too.
  await workshop.compile(both, 'app.ts')

  const wrong = workshop.app('wrong-core')
  const { code, output } = await workshop.attempt(
    'npm',
    ['install', `@lamella/core@${major}`, `@lamella/middleware-retry@${retry.manifest.version}`],
    { cwd: wrong },
  )
  assert.notEqual(code, 0, 'npm installed a core that does not fit')
  for (const said of [`@lamella/core@${major}`, retry.manifest.peerDependencies['@lamella/core']]) {
    assert.ok(output.includes(said), `npm does not say ${said}:\n${output}`)
  }
  await workshop.run(
    'npm',
    [
      'install',
      '--force',
      `@lamella/core@${major}`,
      `@lamella/middleware-retry@${retry.manifest.version}`,
    ],
    { cwd: wrong },
  )
  const told = await workshop.attempt('npx', ['--yes', 'create-lamella', 'check'], { cwd: wrong })
  assert.equal(told.code, 1)
  const sentence = `@lamella/middleware-retry ${retry.manifest.version} needs @lamella/core ${retry.manifest.peerDependencies['@lamella/core']}, and ${major} is installed: npm install @lamella/core@`
  assert.ok(told.output.includes(sentence), told.output)
  return 'two pinned applications, two copies of core in one, and one core that does not fit'
}
