// Compiles every TypeScript block of the Markdown files against the sources, and follows their links.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { anchors, internalLinks, snippets, uncheckedFences } from './markdown.ts'

const documents = globSync([
  '*.md',
  '{docs,examples,bench}/**/*.md',
  '{packages,templates}/*/*.md',
]).filter((path) => !path.includes('node_modules'))

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
  `${documents.length} documents, ${compiled.count} TypeScript blocks, ${problems.length} problems`,
)
process.exit(problems.length === 0 ? 0 : 1)

function compileSnippets(): { count: number; problems: string[] } {
  const origins = new Map<string, string>()
  const folders = new Set(['.snippets'])
  try {
    for (const document of documents) {
      const folder = join(packageFolder(document), '.snippets')
      for (const { code, line } of snippets(readFileSync(document, 'utf8'))) {
        folders.add(folder)
        mkdirSync(folder, { recursive: true })
        const file = join(folder, `${document.replaceAll('/', '__')}.${line}.ts`)
        writeFileSync(file, `${code}\n`)
        origins.set(file, document)
      }
    }
    if (origins.size === 0) return { count: 0, problems: [] }

    mkdirSync('.snippets', { recursive: true })
    writeFileSync('.snippets/tsconfig.json', JSON.stringify(snippetConfig([...origins.keys()])))
    const { status, stdout } = spawnSync('tsc', ['-p', '.snippets/tsconfig.json'], {
      encoding: 'utf8',
    })
    let output = stdout
    for (const [file, document] of origins) output = output.replaceAll(file, document)
    return { count: origins.size, problems: status === 0 ? [] : [output.trim()] }
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
}

/** Where the imports of a document's blocks resolve: its package, or the examples for all others. */
function packageFolder(document: string): string {
  const folder = dirname(document)
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
