import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')
const core = join(root, 'packages', 'core')

/** Builds core where its dist is older than its sources, since users get the dist. */
export function buildCore() {
  if (process.env.LAMELLA_CORE !== undefined) return
  if (newest('dist', '.js') > newest('src', '.ts')) return
  process.stderr.write('Building core ...\n')
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build-package.mjs')], {
    cwd: core,
    stdio: ['ignore', process.stderr, process.stderr],
  })
  if (status !== 0) throw new Error('core does not build')
}

function newest(folder, ending) {
  const path = join(core, folder)
  if (!existsSync(path)) return 0
  const files = readdirSync(path, { recursive: true }).filter(
    (name) => name.endsWith(ending) && !name.includes('.test'),
  )
  return Math.max(0, ...files.map((name) => statSync(join(path, name)).mtimeMs))
}
