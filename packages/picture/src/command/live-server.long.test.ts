import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeInBrowser, openPage } from '../browser.test-helper.ts'
import { richRun } from '../golden.test-helper.ts'
import { runCommand } from './command.ts'
import type { LiveServer } from './live-server.ts'
import { serveLive } from './live-server.ts'

let folder: string
let file: string
let server: LiveServer
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'picture-live-'))
  file = join(folder, 'run.jsonl')
  server = await serveLive(file)
})
afterEach(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

/** Events of the stream of lines until one of them holds `until`. */
async function linesUntil(until: string, headers: Record<string, string> = {}): Promise<string> {
  const stop = new AbortController()
  const response = await fetch(`${server.url}lines`, { headers, signal: stop.signal })
  let text = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.includes(until)) break
  }
  stop.abort()
  return text
}

/** Status of an answer, with headers that `fetch` does not let anybody set. */
function statusOf(path: string, headers: Record<string, string>, method = 'GET'): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(new URL(path, server.url), { headers, method }, (response) => {
      response.resume()
      resolve(response.statusCode!)
    })
    request.on('error', reject)
  })
}

it('sends whole lines as they come, from where the reader has got to', async () => {
  await writeFile(file, '{"k":"a"}\n{"k":"b"')
  const first = await linesUntil('"a"')
  await appendFile(file, '}\n{"k":"☃"}\n')

  const rest = await linesUntil('☃', { 'last-event-id': '10' })

  expect(first).toBe('id: 10\ndata: {"k":"a"}\n\n')
  expect(rest).toContain('data: {"k":"b"}\ndata: {"k":"☃"}\n\n')
  expect(rest).not.toContain('"a"')
})

it('tells a reader of a file that began anew', async () => {
  await writeFile(file, '{"k":"a"}\n')
  await truncate(file)

  expect(await linesUntil('reset', { 'last-event-id': '10' })).toContain('event: reset')
})

it('answers pages of this machine only, that know the secret, and only reads', async () => {
  const { host, pathname } = new URL(server.url)

  expect(await statusOf(pathname, {})).toBe(200)
  expect(await statusOf('/', {})).toBe(404)
  expect(await statusOf('/lines', {})).toBe(404)
  expect(await statusOf(pathname, { host: 'evil.example' })).toBe(403)
  expect(await statusOf(pathname, { origin: 'https://evil.example' })).toBe(403)
  expect(await statusOf(pathname, { origin: `http://${host}` })).toBe(200)
  expect(await statusOf(pathname, {}, 'POST')).toBe(405)
})

it('ends when it is told to', async () => {
  const stop = new AbortController()
  let out = ''

  const code = runCommand([file, '--live'], {
    err: () => {},
    signal: stop.signal,
    out: (text) => {
      out += text
      stop.abort()
    },
  })

  expect(await code).toBe(0)
  expect(out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/\n$/)
})

describeInBrowser('the page that follows a file', () => {
  it('shows new lines where they belong, and says only how the run ended', async () => {
    const lines = (await richRun()).split(/(?<=\n)/)
    await writeFile(file, lines.slice(0, 12).join(''))
    const { page, problems } = await openPage(server.url)
    await page.locator('h1', { hasText: 'helper' }).waitFor()
    expect(await page.locator('.status').innerText()).toContain('no end recorded')
    await page.locator('.row', { hasText: 'Model call 1' }).click()

    await appendFile(file, lines.slice(12).join(''))
    await page.locator('.status', { hasText: 'completed' }).waitFor()

    expect(await page.locator('.row.model').count()).toBe(2)
    expect(await page.locator('.row[aria-selected="true"] .label').innerText()).toBe('Model call 1')
    expect(await page.locator('#said').innerText()).toBe('The run: completed')
    expect(problems).toEqual([])
  })
})
