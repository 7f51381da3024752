// Compiles the TypeScript blocks of the Markdown files and of doc comments against the sources, runs those of doc
// comments and those that need neither a provider nor a test runner, and follows the links of the Markdown files.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  anchors,
  docExamples,
  internalLinks,
  snippets,
  uncheckedFences,
} from './conventions/markdown.ts'

const documents = globSync([
  '*.md',
  '{docs,examples,bench}/**/*.md',
  '{packages,templates}/*/*.md',
]).filter((path) => !path.includes('node_modules'))

const sources = globSync('packages/*/src/**/*.ts').filter((path) => !/\.test[.-]/.test(path))

const compiled = compileSnippets()
const problems = [
  ...compiled.problems,
  ...documents.flatMap((document) =>
    uncheckedFences(readFileSync(document, 'utf8')).map(
      (line) => `${document}:${line} a block of TypeScript must be marked \`ts\` and no more`,
    ),
  ),
  ...documents.flatMap(brokenLinks),
]
for (const problem of problems) console.error(problem)
console.log(
  `${documents.length} documents, ${compiled.count} TypeScript blocks, ${compiled.runs} of them run, ${problems.length} problems`,
)
process.exit(problems.length === 0 ? 0 : 1)

function compileSnippets(): { count: number; runs: number; problems: string[] } {
  const origins = new Map<string, string>()
  const runnable: string[] = []
  const folders = new Set(['.snippets'])
  try {
    for (const document of [...documents, ...sources]) {
      const folder = join(packageFolder(document), '.snippets')
      const isSource = document.endsWith('.ts')
      const text = readFileSync(document, 'utf8')
      for (const { code, line } of isSource ? docExamples(text) : snippets(text)) {
        folders.add(folder)
        mkdirSync(folder, { recursive: true })
        const file = join(folder, `${document.replaceAll('/', '__')}.${line}.ts`)
        writeFileSync(file, `${code}\n`)
        origins.set(file, document)
        if (isSource || runsAlone(code)) runnable.push(file)
      }
    }
    if (origins.size === 0) return { count: 0, runs: 0, problems: [] }

    mkdirSync('.snippets', { recursive: true })
    writeFileSync('.snippets/tsconfig.json', JSON.stringify(snippetConfig([...origins.keys()])))
    const { status, stdout } = spawnSync('tsc', ['-p', '.snippets/tsconfig.json'], {
      encoding: 'utf8',
    })
    const faults = [status === 0 ? '' : stdout, runAll(runnable)].map((output) => {
      let named = output.trim()
      for (const [file, document] of origins) named = named.replaceAll(file, document)
      return named
    })
    const found = faults.filter((output) => output !== '')
    return { count: origins.size, runs: runnable.length, problems: found }
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
}

/** True for a block that uses scripted models or helpers for tests, and declares nothing that is missing. */
function runsAlone(code: string): boolean {
  return (
    code.includes("from '@lamella/testing'") &&
    !/\bdeclare |describeContract|ChatClient\(\{|example'|redis|postgres|Queue|fast-check/i.test(
      code,
    )
  )
}

/** Imports the files one after the other in one process without keys, and returns what went wrong. */
function runAll(files: string[]): string {
  const cwd = mkdtempSync(join(tmpdir(), 'lamella-snippets-'))
  const program = `
    process.on('unhandledRejection', (error) => { throw error })
    console.log = console.info = console.debug = () => {}
    for (const [file, url] of ${JSON.stringify(files.map((file) => [file, pathToFileURL(file).href]))}) {
      await import(url).catch((error) => console.error(file, 'failed:', error))
    }
    process.exit()`
  const keys = /^(OPENAI|ANTHROPIC|AZURE_OPENAI)_/
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--conditions=@lamella/source', '--input-type=module', '--eval', program],
    {
      encoding: 'utf8',
      timeout: 120_000,
      cwd,
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !keys.test(name))),
    },
  )
  rmSync(cwd, { recursive: true })
  return status === 0 ? stderr : `${stderr}\nThe blocks that run ended with ${status}.`
}

/**
 * Folder that resolves the imports of a document's blocks: its package, or the examples for all others.
 */
function packageFolder(document: string): string {
  const folder = document.startsWith('packages/')
    ? document.split('/').slice(0, 2).join('/')
    : dirname(document)
  return folder !== '.' && existsSync(join(folder, 'package.json')) ? folder : 'examples'
}

function snippetConfig(files: string[]): object {
  return {
    extends: '../tsconfig.json',
    compilerOptions: {
      noUnusedLocals: false,
      noUnusedParameters: false,
      // A package's README may show it beside a package that it does not depend on.
      paths: { '@lamella/*': ['../packages/*/src/index.ts'] },
    },
    files: files.map((file) => `../${file}`),
    include: [],
  }
}

function brokenLinks(document: string): string[] {
  return internalLinks(readFileSync(document, 'utf8')).flatMap(({ target, line }) => {
    const [path = '', anchor] = decodeURI(target).split('#')
    const file = path === '' ? document : join(path.startsWith('/') ? '.' : dirname(document), path)
    const at = `${document}:${line} link to ${target}:`
    if (!existsSync(file)) return [`${at} there is no such file`]
    if (anchor === undefined || statSync(file).isDirectory() || !file.endsWith('.md')) return []
    return anchors(readFileSync(file, 'utf8')).has(anchor) ? [] : [`${at} there is no such heading`]
  })
}
