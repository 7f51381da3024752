import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const names = ['chromium', 'chromium-browser', 'google-chrome']
const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const contentTypes = { '/index.html': 'text/html', '/suite.mjs': 'text/javascript' }

/** The browser on this machine, installed first where `install` is set. */
export function findChromium({ install }) {
  const found = onPath()
  if (found || !install) return found
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']]) {
    console.log(`chromium is missing: apt-get ${args.join(' ')}`)
    // Test files run side by side, and each may find it missing.
    spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=300', ...args], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }
  return onPath()
}

function onPath() {
  const folders = process.env.PATH.split(delimiter)
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync)
}

/**
 * Opens `index.html` of a folder and waits for what the page posts to `/report`.
 * @returns {Promise<{ code: number | string, output: string, errors: string }>}
 */
export async function runPage(command, { folder, timeoutMs }) {
  const { promise: posted, resolve: post } = Promise.withResolvers()
  const answer = async (request, response) => {
    if (request.url === '/report') {
      post(Buffer.concat(await request.toArray()).toString())
      response.end()
      return
    }
    const type = contentTypes[request.url]
    response.writeHead(type ? 200 : 404, {
      'content-type': `${type ?? 'text/plain'};charset=utf-8`,
    })
    response.end(type && (await readFile(join(folder, request.url))))
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))

  const profile = await mkdtemp(join(tmpdir(), 'lamella-chromium-'))
  const page = `http://127.0.0.1:${server.address().port}/index.html`
  const browser = spawn(command, [...flags, `--user-data-dir=${profile}`, page], {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: timeoutMs,
  })
  let errors = ''
  browser.stderr.setEncoding('utf8').on('data', (chunk) => (errors += chunk))
  const closed = new Promise((resolve) => {
    browser.on('error', (error) => resolve(error.code))
    browser.on('close', (code, signal) => resolve(code ?? signal))
  })
  const output = await Promise.race([posted, closed.then(() => '')])
  browser.kill()
  const code = await closed
  server.closeAllConnections()
  server.close()
  await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  return { code: output ? 0 : code, output, errors }
}
