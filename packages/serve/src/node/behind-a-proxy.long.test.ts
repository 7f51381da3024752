// A real reverse proxy keeps its connections to the server, and gives them to other users.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { Agent as Pool, createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { freePort } from '../../../../tests/support/free-port.ts'
import { served } from '../sse/served.test-helper.ts'
import { toNode } from './to-node.ts'

const hasNginx = spawnSync('nginx', ['-v']).error === undefined
if (!hasNginx && process.env['CI'] === 'true') throw new Error('there is no nginx on the PATH')
if (!hasNginx) console.warn('SKIPPED, there is no nginx on the PATH')

const folder = mkdtempSync(join(tmpdir(), 'lamella-proxy-'))
const closing: (() => Promise<unknown> | void)[] = []
afterAll(async () => {
  for (const close of closing) await close()
  rmSync(folder, { recursive: true, force: true })
})

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Starts nginx before a server on this port, and resolves to its address. */
async function proxyOf(backend: number): Promise<string> {
  const port = await freePort()
  mkdirSync(join(folder, 'logs'), { recursive: true })
  const file = join(folder, `nginx-${port}.conf`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n')
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/nginx-${port}.pid; error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off; ${temporary}
  upstream chat { server 127.0.0.1:${backend}; keepalive 200; }
  server {
    listen 127.0.0.1:${port};
    client_max_body_size 0;
    location / {
      proxy_pass http://chat;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_request_buffering off;
      proxy_buffering off;
    }
  }
}`,
  )
  const nginx = spawn('nginx', ['-c', file, '-p', folder, '-e', join(folder, 'error.log')])
  closing.push(
    () => new Promise<void>((resolve) => void (nginx.once('exit', () => resolve()), nginx.kill())),
  )
  const url = `http://127.0.0.1:${port}/chat`
  await vi.waitFor(() => fetch(url), 60_000)
  return url
}

/** Starts a chat behind a proxy. Resolves to its address, and to the connections that the proxy has made. */
async function start(): Promise<{ url: string; sockets: Set<unknown> }> {
  const server = createServer(toNode(served(() => 'Hello.').handler))
  // Longer than the proxy keeps a connection: it would send a request on one that closes.
  server.keepAliveTimeout = 75_000
  const sockets = new Set<unknown>()
  server.on('connection', (socket) => sockets.add(socket))
  return { url: await proxyOf(await listen(server)), sockets }
}

const json = { 'content-type': 'application/json' }
const large = 'x'.repeat(300_000)
const refusals: readonly [number, Record<string, string>, string][] = [
  [401, json, large],
  [403, { ...json, 'x-user': 'ann', 'sec-fetch-site': 'cross-site' }, large],
  [415, { 'x-user': 'ann', 'content-type': 'text/plain' }, large],
  [413, { ...json, 'x-user': 'ann' }, large.repeat(7)],
]

test.skipIf(!hasNginx)(
  '200 kept connections serve the next request at once, after refusals of each kind',
  async () => {
    const { url, sockets } = await start()
    const pool = new Pool({ keepAlive: true, maxSockets: 200 })
    closing.push(() => pool.destroy())
    const statusOf = (headers: Record<string, string>, body: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const asked = httpRequest(url, { method: 'POST', agent: pool, headers }, (response) => {
          response.resume().once('end', () => resolve(response.statusCode))
        })
        asked.once('error', reject)
        asked.end(body)
      })
    const all = Array.from({ length: 200 }, (_, index) => index)

    for (let round = 0; round < 3; round++) {
      const refused = await Promise.all(
        all.map((index) => {
          const [, headers, body] = refusals[(index + round) % refusals.length]!
          return statusOf(headers, body)
        }),
      )
      const next = await Promise.all(
        all.map((index) =>
          statusOf(
            { ...json, 'x-user': `user-${index}` },
            JSON.stringify({ chat: `c${round}`, input: 'Hi' }),
          ),
        ),
      )

      expect(refused).toEqual(all.map((index) => refusals[(index + round) % refusals.length]![0]))
      expect(next).toEqual(all.map(() => 200))
    }
    // The proxy has kept its connections.
    expect(sockets.size).toBeLessThan(700)
  },
)

test.skipIf(!hasNginx)(
  'a connection serves the next request after a refused body that came slowly',
  async () => {
    const { url, sockets } = await start()
    const slowly = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 400))
        controller.enqueue(new Uint8Array(100_000))
        if (++pieces === 14) controller.close()
      },
    })
    let pieces = 0

    const refused = await fetch(url, { method: 'POST', body: slowly, duplex: 'half' })
    const next = await fetch(url)

    expect([refused.status, next.status, sockets.size]).toEqual([401, 401, 1])
  },
)
