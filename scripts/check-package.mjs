// Checks the packed form of the package in the current folder, as a registry would get it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { internalLinks } from './conventions/markdown.ts'
import { addDocuments } from './packed-documents.ts'

const folder = mkdtempSync(join(tmpdir(), 'lamella-pack-'))
try {
  run('pnpm', 'pack', '--pack-destination', folder)
  const tarball = join(folder, readdirSync(folder)[0])
  addDocuments(tarball, join('packages', basename(process.cwd())))
  run('publint', '--strict', tarball)
  run('attw', tarball, '--profile', 'esm-only', '--format', 'ascii')

  run('tar', '-xzf', tarball, '-C', folder)
  const content = join(folder, 'package')
  const files = readdirSync(content, { recursive: true }).map(String)
  const manifest = readFileSync(join(content, 'package.json'), 'utf8')
  const { exports, bin = {} } = JSON.parse(manifest)
  const entries = [...Object.values(exports).map((target) => target.default), ...Object.values(bin)]
    .filter((target) => target !== undefined)
    .map((target) => basename(target, '.js'))
  const built = files.filter((file) => file.startsWith('dist') && file !== 'dist')
  const expected = [...entries, 'shared'].flatMap((name) =>
    ['js', 'js.map', 'd.ts', 'd.ts.map'].map((ending) => join('dist', `${name}.${ending}`)),
  )
  const odd = built.filter((file) => !expected.includes(file))
  demand(odd.length === 0, `the packed package has files beside its entries: ${odd.join(', ')}`)
  demand(files.includes('LICENSE'), 'the packed package has no LICENSE')
  demand(files.includes(join('src', 'index.ts')), 'the packed package has no sources')
  // Templates contain tests for the packages made from them.
  const own = files.filter((file) => !file.startsWith('templates'))
  demand(!own.some((file) => /\.test(-d|-helper)?\./.test(file)), 'the packed package has tests')
  for (const document of own.filter((file) => file.endsWith('.md'))) {
    const dead = internalLinks(readFileSync(join(content, document), 'utf8'))
      .map(({ target }) => target.replace(/#.*$/, ''))
      .filter((path) => path !== '' && !existsSync(join(content, dirname(document), path)))
    demand(dead.length === 0, `${document} links to files that are not packed: ${dead.join(', ')}`)
  }
  for (const word of ['@lamella/source', 'catalog:']) {
    demand(!manifest.includes(word), `the packed manifest mentions ${word}`)
  }
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true })
}

function run(command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status === 0) return
  throw new Error(`${command} ${args.join(' ')}\n${stdout ?? ''}${stderr ?? ''}`)
}

function demand(holds, message) {
  if (holds) return
  console.error(message)
  process.exitCode = 1
}
