// Publishes all packages to a real registry on this machine, and uses them from there as others would.
// usage: node scripts/dev.mjs registry [--keep | part...]
// With --keep it publishes, prints the address, and waits, so that you can try things by hand.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addDocuments } from './packed-documents.ts'
import { installAlone } from './registry/install-alone.mjs'
import { lowestPeer } from './registry/lowest-peer.mjs'
import { startRegistry } from './registry/local-registry.mjs'
import { pinnedVersions } from './registry/pinned-versions.mjs'
import { releaseCore } from './registry/release-core.mjs'
import { startServers } from './registry/stand-ins.mjs'
import { swapProvider } from './registry/swap-provider.mjs'
import { thirdParty } from './registry/third-party.mjs'
import { Workshop } from './registry/workshop.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'lamella-registry-'))
const started = performance.now()
const registry = await startRegistry(join(folder, 'registry'), [
  '@lamella/*',
  'create-lamella',
  '@acme/*',
])
const servers = await startServers()
const workshop = new Workshop({ folder, registry: registry.url, root })
let failed = 0

try {
  const packages = await pack()
  for (const { tarball } of packages) await workshop.publish(tarball)
  console.log(`published ${packages.length} packages after ${seconds()} s`)

  if (process.argv.includes('--keep')) {
    console.log(`npm install --registry=${registry.url} @lamella/core    (Ctrl-C ends it)`)
    await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve))
  }

  const named = (name) => packages.find((one) => one.name === name)
  const core = named('@lamella/core')
  const retry = named('@lamella/middleware-retry')
  const [major, minor] = core.manifest.version.split('.').map(Number)
  const versions = { later: `${major}.${minor + 1}.0`, major: `${major + 1}.0.0` }

  const parts = {
    alone: () => installAlone(workshop, packages, servers.env),
    swap: () => swapProvider(workshop, servers.env),
    third: () => thirdParty(workshop),
    pinned: async () => {
      await workshop.publish(workshop.reversion(core, versions.later))
      await workshop.publish(workshop.reversion(retry, versions.later))
      await workshop.publish(workshop.reversion(core, versions.major))
      return pinnedVersions(workshop, { core, retry, versions })
    },
    lowest: () => lowestPeer(workshop, packages),
    release: () => releaseCore(workshop),
  }
  const wanted = process.argv.slice(2)
  if (wanted.includes('--keep')) Object.keys(parts).forEach((part) => delete parts[part])
  for (const [name, part] of Object.entries(parts)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const start = performance.now()
    try {
      const what = await part()
      console.log(`ok     ${name.padEnd(8)} ${seconds(start)} s: ${what}`)
    } catch (error) {
      failed++
      console.log(`FAILED ${name.padEnd(8)} ${seconds(start)} s\n${error.message}`)
    }
  }
} finally {
  await servers.close()
  await registry.close()
  rmSync(folder, { recursive: true })
}
console.log(`${seconds()} s in all`)
process.exit(failed === 0 ? 0 : 1)

/** Packs every package as for a release, and unpacks it beside the tarball. */
async function pack() {
  const packages = []
  for (const name of readdirSync(join(root, 'packages'))) {
    const source = join(root, 'packages', name)
    const place = join(folder, 'packed', name)
    mkdirSync(place, { recursive: true })
    await workshop.run('pnpm', ['pack', '--pack-destination', place], { cwd: source })
    const tarball = join(place, readdirSync(place)[0])
    addDocuments(tarball, `packages/${name}`)
    await workshop.run('tar', ['-xzf', tarball, '-C', place])
    const unpacked = join(place, 'package')
    const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'))
    packages.push({ name: manifest.name, manifest, tarball, folder: unpacked, source })
  }
  return packages
}

function seconds(since = started) {
  return ((performance.now() - since) / 1000).toFixed(1)
}
