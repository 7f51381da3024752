#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { askUntil } from './ask-until.ts'
import { checkCores } from './check-cores.ts'
import type { PackageKind } from './create-package.ts'
import {
  createPackage,
  kinds,
  problemOfKind,
  problemOfName,
  problemOfNode,
} from './create-package.ts'

const help = `npm create lamella@latest [kind] [name]    creates a package, or with \`app\` a service with a page
npx create-lamella check                   checks whether all installed packages fit the installed core

  kind              ${kinds.join(', ')}
  name              such as @acme/lamella-polite
  --folder <path>   target folder (default: the name of the package)
  --author <name>   author in the license
  --help            shows this help`

try {
  process.exitCode = await main()
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      kind: { type: 'string' },
      name: { type: 'string' },
      folder: { type: 'string' },
      author: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help === true) {
    console.log(help)
    return 0
  }
  if (positionals[0] === 'check') return check()
  const kind =
    values.kind ??
    positionals[0] ??
    (await ask(`Which kind? One of ${kinds.join(', ')}: `, problemOfKind))
  // A wrong kind needs no further question.
  const problem = problemOfKind(kind)
  if (problem !== undefined) throw new TypeError(`create-lamella: ${problem}`)
  const name =
    values.name ??
    positionals[1] ??
    (await ask('Which name? For example @acme/lamella-polite or support-desk: ', problemOfName))
  const { folder: wanted, author } = values
  const folder = createPackage({ kind: kind as PackageKind, name, folder: wanted, author })
  console.log(`Created ${name} in ${folder}. Next steps:

  cd ${folder}
  npm install
  npm test

Then edit the files in src/. \`npm run check\` checks the types, ${
    kind === 'app' ? '`npm start` serves the page' : '`npm publish` runs all checks and publishes'
  }.`)
  const { engines } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const warning = problemOfNode(engines.node, process.versions.node)
  if (warning !== undefined) console.warn(`\n${warning}`)
  return 0
}

function check(): number {
  const { checked, problems, unchecked } = checkCores(process.cwd())
  if (unchecked !== undefined) {
    console.error(`create-lamella: nothing was checked: ${unchecked}`)
    return 2
  }
  for (const { message } of problems) console.error(message)
  const packages = checked === 1 ? '1 package' : `${checked} packages`
  if (problems.length === 0) console.log(`${packages} checked: all fit the installed core.`)
  return problems.length === 0 ? 0 : 1
}

async function ask(
  question: string,
  problemOf: (answer: string) => string | undefined,
): Promise<string> {
  if (!process.stdin.isTTY) {
    throw new Error(
      `create-lamella: there is no terminal for questions; pass a kind and a name:\n${help}`,
    )
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return await askUntil(() => terminal.question(question), problemOf, console.log)
  } finally {
    terminal.close()
  }
}
