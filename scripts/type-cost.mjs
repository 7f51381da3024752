// Compiles one application that uses every middleware, against what is published, with the oldest TypeScript that
// the packages support and with that of the workspace, and holds what its types cost.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const limits = { instantiations: 5_000, checkSeconds: 1 }
const compilers = ['typescript-oldest', 'typescript']

const folder = mkdtempSync(join(tmpdir(), 'lamella-types-'))
let problems = 0
try {
  symlinkSync(resolve('examples/node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  cpSync('scripts/type-cost/application.ts', join(folder, 'application.ts'))
  for (const compiler of compilers) {
    // A consumer may check declarations as well; what that costs is mostly Node's and the SDKs'.
    demand(compiler, compile(compiler, '--skipLibCheck', 'false'))
    // The quickest of three: the machine may be busy.
    const outputs = Array.from({ length: 3 }, () =>
      demand(compiler, compile(compiler, '--skipLibCheck', '--extendedDiagnostics')),
    )
    const figure = (name) =>
      Math.min(
        ...outputs.map((output) =>
          Number(new RegExp(`^${name}:\\s+([\\d.]+)`, 'm').exec(output)?.[1]),
        ),
      )
    const measured = {
      instantiations: figure('Instantiations'),
      checkSeconds: figure('Check time'),
    }
    for (const [name, limit] of Object.entries(limits)) {
      const isOver = !(measured[name] <= limit)
      if (isOver) problems++
      console.log(
        `${compiler}: ${measured[name]} ${name}, limit ${limit}: ${isOver ? 'OVER' : 'ok'}`,
      )
    }
  }
} finally {
  rmSync(folder, { recursive: true })
}
process.exit(problems === 0 ? 0 : 1)

function compile(compiler, ...flags) {
  return spawnSync(
    process.execPath,
    [
      resolve('node_modules', compiler, 'bin', 'tsc'),
      ...'--noEmit --strict --exactOptionalPropertyTypes --module nodenext --target es2022'.split(
        ' ',
      ),
      ...'--lib es2023,dom,esnext.disposable --types node --typeRoots'.split(' '),
      resolve('node_modules/@types'),
      ...flags,
      'application.ts',
    ],
    { cwd: folder, encoding: 'utf8' },
  )
}

function demand(compiler, { status, stdout, stderr }) {
  if (status !== 0) {
    problems++
    console.log(`${compiler} finds errors\n${stdout}${stderr}`)
  }
  return stdout
}
