import { execFileSync, spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { checkCores, createPackage, kinds } from './index.ts'

const templates = fileURLToPath(new URL('../../../templates', import.meta.url))
const cli = fileURLToPath(new URL('cli.ts', import.meta.url))
const folders: string[] = []
const fresh = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'lamella-create-'))
  folders.push(folder)
  return folder
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})
const textOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), 'utf8')}`)
    .join('\n')

const packages = kinds.filter((kind) => kind !== 'app')

describe.each(packages)('a new %s', (kind) => {
  it('has no word of the template left, and its own instead', () => {
    const folder = join(fresh(), 'new')

    createPackage({ kind, name: '@acme/lamella-tea-time', folder, templates, author: 'Ada' })

    const text = textOf(folder)
    expect(text).not.toMatch(
      /your-(?:middleware|guardrail|provider|store|chat|scope)|your[A-Z]|Your[A-Z]|\{\{/,
    )
    expect(text).toContain('"name": "@acme/lamella-tea-time"')
    expect(text).toMatch(/tea-time(?:\.test)?\.ts/)
    expect(text).toMatch(/[tT]eaTime/)
    expect(text).toContain('Ada')
    expect(readdirSync(folder)).toEqual(
      expect.arrayContaining([
        '.github',
        '.gitignore',
        'LICENSE',
        'README.md',
        'package.json',
        'src',
      ]),
    )
  })
})

/** Packages that templates depend on. */
const brought = [
  'core',
  'guardrail',
  'openai',
  'serve',
  'store',
  'store-sqlite',
  'testing',
  'transport',
]

describe.each(kinds)('a new %s', (kind) => {
  it('is green at once', () => {
    const folder = join(fresh(), 'new')
    createPackage({ kind, name: 'tea-time', folder, templates })
    const modules = join(folder, 'node_modules', '@lamella')
    mkdirSync(modules, { recursive: true })
    for (const name of brought) {
      symlinkSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), join(modules, name))
    }

    const { status, stdout } = spawnSync(
      process.execPath,
      ['--conditions=@lamella/source', '--test', 'src/*.test.ts'],
      { cwd: folder, encoding: 'utf8', env: { PATH: process.env['PATH'] } },
    )

    expect(stdout).toContain('fail 0')
    expect(status).toBe(0)
  })
})

it('a new app has no word of the template left, and is private', () => {
  const folder = join(fresh(), 'new')

  createPackage({ kind: 'app', name: 'tea-time', folder, templates })

  const text = textOf(folder)
  expect(text).not.toMatch(/your-(?:app|scope)|your[A-Z]|Your[A-Z]|\{\{/)
  expect(text).toContain("name: 'tea-time'")
  expect(text).toContain('"private": true')
  expect(readdirSync(folder)).toEqual(
    expect.arrayContaining(['.github', '.gitignore', 'README.md', 'package.json', 'page', 'src']),
  )
})

describe('createPackage', () => {
  it.each([
    [{ kind: 'plugin', name: 'a' }, /kind must be one of middleware, .*plugin/],
    [{ kind: 'store', name: 'Not A Name' }, /Not A Name/],
    [{ kind: 'store', name: '../up' }, /\.\.\/up/],
  ])('names what is wrong: %o', (options, problem) => {
    expect(() => createPackage({ ...options, templates } as never)).toThrow(problem)
  })

  it('does not write into a folder that has something in it', () => {
    const folder = fresh()
    writeFileSync(join(folder, 'mine.txt'), '')

    expect(() => createPackage({ kind: 'store', name: 'a', folder, templates })).toThrow(
      'not empty',
    )
    expect(readdirSync(folder)).toEqual(['mine.txt'])
  })
})

describe('the command', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['--conditions=@lamella/source', cli, ...args], {
      cwd: fresh(),
      encoding: 'utf8',
      input: '',
    })

  it('says what it can do', () => {
    expect(run('--help').stdout).toContain('npm create lamella@latest')
  })

  it('without a terminal it needs the kind and the name', () => {
    const { status, stderr } = run()

    expect(status).toBe(1)
    expect(stderr).toMatch(/no terminal/)
  })

  it('says in one sentence what is wrong', () => {
    expect(run('plugin', 'a').stderr.trim().split('\n')).toHaveLength(1)
  })
})

describe('checking cores', () => {
  const installed = (modules: Readonly<Record<string, object>>): string => {
    const folder = fresh()
    for (const [name, manifest] of Object.entries(modules)) {
      const place = join(folder, 'node_modules', name)
      mkdirSync(place, { recursive: true })
      const bare = name.slice(name.lastIndexOf('node_modules/') + 1).replace('ode_modules/', '')
      writeFileSync(join(place, 'package.json'), JSON.stringify({ name: bare, ...manifest }))
    }
    return folder
  }
  const peer = (range: string) => ({
    version: '1.0.0',
    peerDependencies: { '@lamella/core': range },
  })

  it('has nothing to say where all fits', () => {
    const folder = installed({
      '@lamella/core': { version: '1.4.2' },
      '@lamella/middleware-retry': peer('^1.4.0'),
      polite: { version: '1.0.0' },
    })

    expect(checkCores(folder)).toEqual({ checked: 1, problems: [], unchecked: undefined })
  })

  it('names both versions and the command that mends it', () => {
    const folder = installed({
      '@lamella/core': { version: '2.0.0' },
      '@lamella/middleware-retry': peer('^1.0.0'),
    })

    const [problem] = checkCores(folder).problems

    expect(problem?.message).toBe(
      '@lamella/middleware-retry 1.0.0 needs @lamella/core ^1.0.0, and 2.0.0 is installed: npm install @lamella/core@^1.0.0, or npm install @lamella/middleware-retry@latest if it has a release for core 2.0.0',
    )
  })

  it.each([
    ['1.0.0', '^1.0.1', 1],
    ['1.1.0', '^1.0.9', 0],
    ['0.9.0', '^1.0.0', 1],
    ['1.0.0', '>=1', 0],
    ['1.0.0', '~1.1.0', 1],
    ['1.1.3', '~1.1.0', 0],
    ['1.0.0', '>=1.1.0 <2', 1],
    ['1.0.0', '^1.1', 1],
    ['1.0.0', '1.1.0', 1],
    ['2.0.0', '^1.0.0 || ^2.0.0', 0],
    ['1.1.0-rc.1', '^1.0.0', 0],
    ['1.0.0', 'nonsense', 1],
  ])('core %s and %s', (version, range, problems) => {
    const folder = installed({ '@lamella/core': { version }, a: peer(range) })

    expect(checkCores(folder).problems).toHaveLength(problems)
  })

  it('a package with a core of its own is judged by that, and one without any is told', () => {
    const folder = installed({
      '@lamella/core': { version: '2.0.0' },
      a: { version: '1.0.0' },
      'a/node_modules/@lamella/core': { version: '1.0.0' },
      'a/node_modules/b': peer('^1.0.0'),
    })
    expect(checkCores(folder).problems).toEqual([])

    const [problem] = checkCores(installed({ b: peer('^1.0.0') })).problems
    expect(problem?.message).toContain('none is installed')
  })

  it('finds packages that packages bring, where pnpm keeps them', () => {
    const folder = installed({
      '@lamella/core': { version: '1.0.0' },
      '.pnpm/kit@1.0.0/node_modules/kit': { version: '1.0.0', dependencies: { retry: '^1.1.0' } },
      '.pnpm/kit@1.0.0/node_modules/retry': peer('^1.1.0'),
      '.pnpm/kit@1.0.0/node_modules/@lamella/core': { version: '1.0.0' },
    })
    const modules = join(folder, 'node_modules')
    symlinkSync(join(modules, '.pnpm/kit@1.0.0/node_modules/kit'), join(modules, 'kit'))

    const { checked, problems } = checkCores(folder)

    expect(checked).toBe(1)
    expect(problems[0]?.message).toContain('retry 1.0.0 needs @lamella/core ^1.1.0, and 1.0.0')
  })

  it.each([
    ['in no application', {}, /no package.json/],
    ['before an install', { 'package.json': '{}' }, /no packages are installed/],
    ['with Plug and Play', { 'package.json': '{}', '.pnp.cjs': '' }, /Plug'n'Play/],
  ])('%s it says that nothing was checked', (_, files, words) => {
    const folder = fresh()
    mkdirSync(folder, { recursive: true })
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)

    const { status, stderr } = spawnSync(
      process.execPath,
      ['--conditions=@lamella/source', cli, 'check'],
      {
        cwd: folder,
        encoding: 'utf8',
      },
    )

    expect(checkCores(folder).unchecked).toMatch(words)
    expect([status, stderr]).toEqual([2, expect.stringContaining('nothing was checked')])
  })

  it('is a command, too', () => {
    const folder = installed({ b: peer('^1.0.0') })

    const run = (): string =>
      execFileSync(process.execPath, ['--conditions=@lamella/source', cli, 'check'], {
        cwd: folder,
        stdio: 'pipe',
        encoding: 'utf8',
      })

    expect(run).toThrow('npm install @lamella/core@^1.0.0')
  })
})
