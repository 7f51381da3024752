import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pageWith } from '../views/picture-of.ts'

const pollMs = 250
const chunkBytes = 1 << 20

/** A server that shows one file while it is being written. */
export interface LiveServer {
  /** Address of the page. Its path is a secret. */
  readonly url: string
  close(): Promise<void>
}

/** Serves the page of a file, and its lines as they come, on this machine only. */
export async function serveLive(file: string, port = 0): Promise<LiveServer> {
  const secret = randomBytes(16).toString('hex')
  const server = createServer((request, response) => {
    const { port: own } = server.address() as AddressInfo
    if (!isFromHere(request, own)) refuse(response, 403)
    else if (request.method !== 'GET') refuse(response, 405)
    else if (request.url === `/${secret}/`) sendPage(response)
    else if (request.url === `/${secret}/lines`) void sendLines(file, request, response)
    else refuse(response, 404)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const { port: own } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${own}/${secret}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Pages of others may neither name this machine by another name nor ask from where they are. */
function isFromHere({ headers }: IncomingMessage, port: number): boolean {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
  const { host = '', origin } = headers
  return hosts.includes(host) && (origin === undefined || origin === `http://${host}`)
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end()
}

function sendPage(response: ServerResponse): void {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  }
  response.writeHead(200, headers).end(pageWith('', 'lines'))
}

/** Sends whole lines from where the reader has got to, and then what is added. */
async function sendLines(
  file: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  response.flushHeaders()
  let from = Number(request.headers['last-event-id'] ?? 0) || 0
  let wake = (): void => {}
  response.once('close', () => wake())
  while (!response.closed) {
    const { lines, to } = await readFrom(file, from)
    if (to < from) response.write('event: reset\ndata: \n\n')
    else if (to > from)
      response.write(`id: ${to}\n${lines.map((line) => `data: ${line}\n`).join('')}\n`)
    from = to
    if (lines.length > 0) continue
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pollMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** Whole lines from a place in a file, and the place behind them. One that has become shorter begins anew. */
async function readFrom(file: string, from: number): Promise<{ lines: string[]; to: number }> {
  const handle = await open(file, 'r').catch(() => undefined)
  if (handle === undefined) return { lines: [], to: from }
  try {
    const { size } = await handle.stat()
    if (size < from) return { lines: [], to: 0 }
    let bytes = Buffer.alloc(0)
    let at = from
    // A line that is longer than a chunk is read on to its end.
    while (at < size && !bytes.includes(10)) {
      const chunk = Buffer.alloc(Math.min(chunkBytes, size - at))
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, at)
      if (bytesRead === 0) break
      at += bytesRead
      bytes = Buffer.concat([bytes, chunk.subarray(0, bytesRead)])
    }
    const end = bytes.lastIndexOf(10) + 1
    const lines = bytes.subarray(0, end).toString('utf8').split('\n')
    return { lines: lines.filter((line) => line.trim() !== ''), to: from + end }
  } catch {
    return { lines: [], to: from }
  } finally {
    await handle.close()
  }
}
