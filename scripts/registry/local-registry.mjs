// A real registry on loopback: what is published to it stays in a folder, all else comes from the
// registry that npm is set to.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const verdaccio = fileURLToPath(new URL('node_modules/verdaccio/bin/verdaccio', import.meta.url))

/** Starts it, and resolves to its address and what ends it. Packages of `scopes` are never looked up elsewhere. */
export async function startRegistry(folder, scopes) {
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  const upstream = npmConfig('registry')
  // npm may trust a certificate that Node does not.
  const cafile = npmConfig('cafile')
  const config = {
    storage: join(folder, 'storage'),
    auth: { htpasswd: { file: join(folder, 'htpasswd') } },
    uplinks: { upstream: { url: upstream, maxage: '30m', timeout: '60s', max_fails: 10 } },
    packages: {
      ...Object.fromEntries(scopes.map((scope) => [scope, { access: '$all', publish: '$all' }])),
      '**': { access: '$all', proxy: 'upstream' },
    },
    log: { type: 'stdout', format: 'json', level: 'error' },
    web: { enable: false },
    max_body_size: '50mb',
  }
  const file = join(folder, 'config.yaml')
  writeFileSync(file, JSON.stringify(config))
  const child = spawn(
    process.execPath,
    [verdaccio, '--config', file, '--listen', `127.0.0.1:${port}`],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...(cafile !== 'null' && { NODE_EXTRA_CA_CERTS: cafile }), ...process.env },
    },
  )
  const url = `http://127.0.0.1:${port}/`
  const deadline = Date.now() + 30_000
  while (
    !(await fetch(`${url}-/ping`).then(
      (answer) => answer.ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error('the registry did not start')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return {
    url,
    async close() {
      child.kill()
      await once(child, 'exit')
    },
  }
}

function npmConfig(key) {
  return String(spawnSync('npm', ['config', 'get', key]).stdout).trim()
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
