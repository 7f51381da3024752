// Somebody else's middleware, guardrail, provider and store: made, tested, published and used from the
// registry, with nothing of this repository at hand.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const app = `import { Agent } from '@lamella/core'
import { sessions } from '@lamella/store'
import { teaMiddleware } from '@acme/lamella-tea-middleware'
import { teaGuardrail } from '@acme/lamella-tea-guardrail'
import { TeaProvider } from '@acme/lamella-tea-provider'
import { memoryDatabase, teaStore } from '@acme/lamella-tea-store'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

const server = createServer((request, answer) => {
  answer.end(JSON.stringify({ text: 'Tea is xyzzy at four.', done: true }))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const baseURL = \`http://127.0.0.1:\${(server.address() as AddressInfo).port}\`

const slow: unknown[] = []
const agent = new Agent({
  client: new TeaProvider({ model: 'one', baseURL }),
  middleware: [
    teaMiddleware({ onEvent: (event) => slow.push(event.slow) }),
    teaGuardrail({ words: ['xyzzy'] }),
  ],
})
const chats = sessions(teaStore({ database: memoryDatabase() }))
const session = await chats.open('tea')
const { text } = await agent.run('When is tea?', { session })
await chats.save(session)
console.log(JSON.stringify([text, slow, (await chats.load('tea'))?.messages.length]))
server.closeAllConnections()
server.close()
`

export async function thirdParty(workshop) {
  const kinds = ['middleware', 'guardrail', 'provider', 'store']
  await Promise.all(
    kinds.map(async (kind) => {
      const place = workshop.app(`maker-${kind}`)
      const name = `@acme/lamella-tea-${kind}`
      const made = ['--kind', kind, '--name', name, '--folder', 'made']
      await workshop.run('npm', ['create', '--yes', 'lamella@latest', '--', ...made], {
        cwd: place,
      })
      const folder = join(place, 'made')
      workshop.settings(folder)
      await workshop.install(folder)
      for (const script of ['check', 'test', 'build']) {
        await workshop.run('npm', ['run', script], { cwd: folder })
      }
      // npm runs the same again before it publishes.
      await workshop.run('npm', ['publish', '--loglevel=error'], { cwd: folder })
      assert.ok(existsSync(join(folder, 'dist', 'index.d.ts')))
      const { devDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      assert.ok(!JSON.stringify(devDependencies).includes('workspace:'))
    }),
  )

  const folder = workshop.app('third-party', { 'app.ts': app })
  const packages = kinds.map((kind) => `@acme/lamella-tea-${kind}`)
  await workshop.install(folder, '@lamella/core', '@lamella/store', ...packages)
  assert.deepEqual(JSON.parse(await workshop.program(folder, 'app.ts')), [
    'Tea is … at four.',
    [false],
    2,
  ])
  return `${kinds.length} packages of somebody else, made, tested, published and used`
}
