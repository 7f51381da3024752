// Writes down the public types of each package, as they are built, and fails if they are not what is
// written down, or changed since the last release without a changeset.
// usage: node scripts/api-report.mjs [--update | --release] [package...]
import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  ExtractorMessageCategory,
} from '@microsoft/api-extractor'
import { unannouncedChanges } from './conventions/unannounced-changes.ts'

const flags = new Set(process.argv.slice(2).filter((argument) => argument.startsWith('--')))
const named = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const packages = readdirSync('packages').filter(
  (name) => named.length === 0 || named.includes(name),
)
const releasedFile = '.changeset/released-api.json'
const released = existsSync(releasedFile)
  ? JSON.parse(readFileSync(releasedFile, 'utf8'))
  : undefined
const changesets = globSync('.changeset/*.md').map((file) => readFileSync(file, 'utf8'))
const temporary = mkdtempSync(join(tmpdir(), 'lamella-api-'))
const problems = []
const hashes = {}

for (const name of packages) {
  const folder = join('packages', name)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const reports = Object.entries(manifest.publishConfig.exports)
    .filter(([, target]) => target.types !== undefined)
    .map(([entry, target]) => reportOf(folder, entry, target.types))
  hashes[manifest.name] = createHash('sha256').update(reports.join('\n')).digest('hex')
}
for (const name of unannouncedChanges(hashes, released, changesets)) {
  problems.push(`${name}: its public types changed since the last release; add a changeset`)
}
if (flags.has('--release')) writeFileSync(releasedFile, `${JSON.stringify(hashes, null, 2)}\n`)
rmSync(temporary, { recursive: true })

for (const problem of problems) console.error(problem)
console.log(
  `${packages.length} packages, ${problems.length} problems${released === undefined ? ', nothing released yet' : ''}`,
)
process.exit(problems.length === 0 || flags.has('--release') ? 0 : 1)

/** The report of one entry; compares it with the file, or writes the file. */
function reportOf(folder, entry, types) {
  const file = join(folder, 'api', `${entry === '.' ? 'index' : entry.slice(2)}.md`)
  const source = resolve(folder, types)
  if (!existsSync(source)) {
    problems.push(`${source} is missing; build first`)
    return ''
  }
  const config = ExtractorConfig.prepare({
    packageJsonFullPath: resolve(folder, 'package.json'),
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: resolve(folder),
      mainEntryPointFilePath: source,
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            module: 'nodenext',
            moduleResolution: 'nodenext',
            target: 'es2023',
            lib: ['es2023', 'esnext.disposable', 'dom'],
            strict: true,
            skipLibCheck: true,
            types: ['node'],
          },
          files: [source],
        },
      },
      apiReport: {
        enabled: true,
        reportFolder: temporary,
        reportTempFolder: temporary,
        reportFileName: 'report',
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: 'lf',
    },
  })
  Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => {
      message.handled = true
      if (
        message.logLevel === ExtractorLogLevel.Error &&
        message.category === ExtractorMessageCategory.Compiler
      )
        problems.push(`${folder}: ${message.text}`)
    },
  })
  const text = readFileSync(join(temporary, 'report.api.md'), 'utf8')
    // Remarks of the tool about comments are no part of the types.
    .replaceAll(/^ *\/\/ (?:Warning|@public|\(undocumented\)|\(No @packageDocumentation).*\n/gm, '')
    // Neither is how the tool that wrote the declarations quotes and breaks lines.
    .replaceAll(/(?<!^## .*)"([^"'\n]*)"/gm, "'$1'")
    .replaceAll('    override ', '    ')
    .replaceAll(/ \{\}$/gm, ' {\n}')
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  if (flags.has('--update')) {
    mkdirSync(join(folder, 'api'), { recursive: true })
    writeFileSync(file, text)
  } else if (text !== before) {
    problems.push(
      `${file} is not what the types are; see the difference with \`npm run api -- --update\` and git`,
    )
  }
  return text
}
