#!/usr/bin/env node
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { askUntil } from './ask-until.ts'
import { checkCores } from './check-cores.ts'
import type { PackageKind } from './create-package.ts'
import { createPackage, kinds, problemOfKind, problemOfName } from './create-package.ts'

const help = `npm create lamella@latest [kind] [name]    writes a package
npx create-lamella check                   looks whether each installed package fits the core beside it

  kind              ${kinds.join(', ')}
  name              such as @acme/lamella-polite
  --folder <path>   where to write it; by default a folder named after the package
  --author <name>   for the licence
  --help            this`

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
    (await ask(`Which kind (${kinds.join(', ')})? `, problemOfKind))
  // Before a question that would be in vain.
  const problem = problemOfKind(kind)
  if (problem !== undefined) throw new TypeError(`create-lamella: ${problem}`)
  const name =
    values.name ??
    positionals[1] ??
    (await ask('Which name, such as @acme/lamella-polite? ', problemOfName))
  const { folder: wanted, author } = values
  const folder = createPackage({ kind: kind as PackageKind, name, folder: wanted, author })
  console.log(`${name} is in ${folder}. Next:

  cd ${folder}
  npm install
  npm test

Then make it yours: src/ is short. \`npm run check\` checks types, \`npm publish\` checks all and publishes.`)
  return 0
}

function check(): number {
  const problems = checkCores(process.cwd())
  for (const { message } of problems) console.error(message)
  if (problems.length === 0) console.log('Every package fits the core beside it.')
  return problems.length === 0 ? 0 : 1
}

async function ask(
  question: string,
  problemOf: (answer: string) => string | undefined,
): Promise<string> {
  if (!process.stdin.isTTY) {
    throw new Error(
      `create-lamella: there is no terminal to ask in; say the kind and the name:\n${help}`,
    )
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return await askUntil(() => terminal.question(question), problemOf, console.log)
  } finally {
    terminal.close()
  }
}
