import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createServerOfHttp2 } from 'node:http2'
import { createRequire } from 'node:module'
import type { Server } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, LamellaError, ProviderError, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import type { Context } from '@restatedev/restate-sdk'
import { createEndpointHandler, service, TerminalError } from '@restatedev/restate-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../../../tests/support/free-port.ts'
import type { TestedEngine, WorkflowAnswer } from '../testing/killed-workers.test-helper.ts'
import { surviveKills, surviveKillsAtEveryStep } from '../testing/killed-workers.test-helper.ts'
import { runDurably } from '../run/run-durably.ts'
import { restate } from './restate-engine.ts'

const runs = Number(process.env['DURABLE_RUNS'] ?? 100)
const runsAtEveryStep = Math.min(200, Number(process.env['DURABLE_RUNS'] ?? 200))

describe('restate', () => {
  let server: RestateServer
  let ports: readonly number[]
  let balancer: Server

  beforeAll(async () => {
    ports = [await freePort(), await freePort()]
    balancer = await balance(ports)
    server = await startRestate()
  })

  afterAll(async () => {
    balancer.close()
    await server.close()
  })

  it('an invocation continues with its own code, and is refused with other code', async () => {
    const note = tool({ name: 'note', description: 'Notes.', execute: () => 'noted' })
    const started = { tools: [note], isDown: true, passes: 0 }
    const client = scriptedClient(({ messages }) => {
      if (messages.length === 1) return callFunction('note', {}, 'call_1')
      if (started.isDown) throw new ProviderError('away', { kind: 'server', provider: 'scripted' })
      return 'Done.'
    })
    const refusals: string[] = []
    const changing = service({
      name: 'changing',
      handlers: {
        run: async (context: Context) => {
          started.passes++
          const { tools } = started
          const engine = restate(context, { retryInterval: 50, maxAttempts: 1000 })
          return (await runDurably(new Agent({ client, tools }), 'Go.', engine)).text
        },
      },
    })
    const logger = (_: unknown, ...words: readonly unknown[]): void => {
      const text = words.map(String).join(' ')
      if (text.includes('RestateError') && !text.includes('away')) refusals.push(text)
    }
    const port = await freePort()
    const worker = createServerOfHttp2(createEndpointHandler({ services: [changing], logger }))
    worker.listen(port, '127.0.0.1')
    await once(worker, 'listening')
    await server.register(`http://127.0.0.1:${port}`)
    const begin = async (): Promise<string> => {
      Object.assign(started, { tools: [note], isDown: true, passes: 0 })
      const body = await server.post('/changing/run/send', undefined)
      await until(() => started.passes > 2)
      return (body as { invocationId: string }).invocationId
    }

    const same = await begin()
    started.isDown = false
    const continued = await server.output(same)
    const refusalsOfSame = [...refusals]
    const other = await begin()
    started.tools = []
    await until(() => refusals.length > 0)
    // The earlier deployment takes it over.
    Object.assign(started, { tools: [note], isDown: false })
    const kept = await server.output(other)
    worker.close()

    expect([continued, refusalsOfSame]).toEqual(['Done.', []])
    expect(refusals[0]).toMatch(/\(570\) Found a mismatch/)
    expect(refusals[0]).toContain('tool note call_1 != model 1')
    expect(kept).toBe('Done.')
  })

  it('a run that fails ends its invocation if the handler says that this is the end', async () => {
    let passes = 0
    const refused = new ProviderError('no such model', { kind: 'not_found', provider: 'scripted' })
    const agent = new Agent({ client: scriptedClient(() => Promise.reject(refused)) })
    const failing = service({
      name: 'failing',
      handlers: {
        run: async (context: Context) => {
          passes++
          try {
            return (await runDurably(agent, 'Go.', restate(context))).text
          } catch (error) {
            throw LamellaError.is(error) ? new TerminalError(error.message) : error
          }
        },
      },
    })
    const port = await freePort()
    const worker = createServerOfHttp2(
      createEndpointHandler({ services: [failing], logger: () => {} }),
    )
    worker.listen(port, '127.0.0.1')
    await once(worker, 'listening')
    await server.register(`http://127.0.0.1:${port}`)

    const { invocationId } = (await server.post('/failing/run/send', undefined)) as {
      invocationId: string
    }

    await expect(server.output(invocationId)).rejects.toThrow('no such model')
    expect(passes).toBe(1)
    worker.close()
  })

  const engine = (): TestedEngine => ({
    program: join(import.meta.dirname, 'restate-process.test-helper.ts'),
    orders: { ports },
    async begin(seeds) {
      const { port } = balancer.address() as { port: number }
      await server.register(`http://127.0.0.1:${port}`)
      const begun = seeds.map((seed) => server.post('/assistant/answer/send', seed))
      return (await Promise.all(begun)).map(
        (body) => (body as { invocationId: string }).invocationId,
      )
    },
    tell: async ({ address, answer }) => {
      await server.post(`/restate/awakeables/${address}/resolve`, answer)
    },
    answer: (workflow) => server.output(workflow),
  })

  it('runs that are killed at every step end with the right answer, each effect once', async () => {
    expect(await surviveKillsAtEveryStep(engine(), runsAtEveryStep)).toBeGreaterThan(20)
  }, 900_000)

  it('runs on two workers that are killed end with the right answer, each effect once', async () => {
    expect(await surviveKills(engine(), runs)).toBeGreaterThan(5)
  }, 900_000)
})

/** Resolves once it is true. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 20))
}

const require = createRequire(import.meta.url)

/** Sends each connection to a worker that listens. */
async function balance(ports: readonly number[]): Promise<Server> {
  let next = 0
  const server = createServer((incoming) => {
    incoming.on('error', () => {})
    const attempt = (left: number): void => {
      if (left === 0) return void incoming.destroy()
      const outgoing = connect(ports[next++ % ports.length]!, '127.0.0.1')
      let isOpen = false
      outgoing.once('connect', () => {
        isOpen = true
        incoming.pipe(outgoing).pipe(incoming)
      })
      outgoing.on('error', () => (isOpen ? void incoming.destroy() : attempt(left - 1)))
      outgoing.on('close', () => void (isOpen && incoming.destroy()))
      incoming.on('close', () => outgoing.destroy())
    }
    attempt(ports.length)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

interface RestateServer {
  register(uri: string): Promise<void>
  post(path: string, body: unknown): Promise<unknown>
  output(invocation: string): Promise<WorkflowAnswer>
  close(): Promise<void>
}

/** Status of an invocation that has not ended. */
const notReady = 470

/** Starts the server of the package `@restatedev/restate-server` in a folder of its own. */
async function startRestate(): Promise<RestateServer> {
  const folder = mkdtempSync(join(tmpdir(), 'lamella-restate-'))
  const program = require.resolve('@restatedev/restate-server/lib/index.js')
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()]
  const args = ['--bind-ip=127.0.0.1', '--listen-mode=tcp', `--bind-port=${node}`, '--no-logo']
  const child: ChildProcess = spawn(process.execPath, [program, ...args], {
    stdio: 'ignore',
    env: {
      ...process.env,
      RESTATE_BASE_DIR: folder,
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_INGRESS__BIND_PORT: `${ingress}`,
      RESTATE_ADMIN__BIND_PORT: `${admin}`,
      // A worker that is down is no reason to pause.
      RESTATE_DEFAULT_RETRY_POLICY__MAX_ATTEMPTS: 'unlimited',
      RESTATE_DEFAULT_RETRY_POLICY__INITIAL_INTERVAL: '100ms',
      RESTATE_DEFAULT_RETRY_POLICY__MAX_INTERVAL: '500ms',
    },
  })
  const at = (port: number, path: string, body?: unknown): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json' },
    })
  const untilItWorks = async (works: () => Promise<boolean>): Promise<void> => {
    while (!(await works().catch(() => false))) {
      if (child.exitCode !== null) throw new Error('the server of Restate does not start')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const ok = async (response: Response): Promise<unknown> => {
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.url}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  await untilItWorks(async () => (await at(admin, '/health')).ok)
  return {
    register: (uri) => untilItWorks(async () => (await at(admin, '/deployments', { uri })).ok),
    post: async (path, body) => ok(await at(ingress, path, body)),
    async output(invocation) {
      for (;;) {
        const response = await at(ingress, `/restate/invocation/${invocation}/output`)
        if (response.status !== notReady) return (await ok(response)) as WorkflowAnswer
        await response.text()
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    },
    async close() {
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await exit
      clearTimeout(force)
      rmSync(folder, { recursive: true })
    },
  }
}
