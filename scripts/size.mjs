// Measures what core adds to an application, and whole applications: the built packages, bundled, minified, gzipped.
// Where a goal is not reached yet (docs/decisions/0010-a-size-budget.md), the limit is what the bundle has come to, and
// goes down with it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/** An agent with a tool, a middleware and an OpenAI client of `entry`. */
const applicationOn = (entry) => `
  import { Agent, chatMiddleware, tool } from '@lamella/core'
  import { OpenAIChatClient } from '${entry}'
  const now = tool({ name: 'now', description: 'The time.', parameters: { type: 'object' }, execute: () => Date.now() })
  const note = chatMiddleware('note', async (context, callNext) => { await callNext(); console.log(context.result) })
  export const agent = (apiKey) => new Agent({ client: new OpenAIChatClient({ apiKey, model: 'gpt-5-mini' }), tools: [now], middleware: [note] })
`

const bundles = [
  {
    name: 'an agent, a tool and a middleware',
    goalBytes: 12_000,
    limitBytes: 39_600,
    source: `
      import { Agent, chatMiddleware, tool } from '@lamella/core'
      const now = tool({ name: 'now', description: 'The time.', parameters: { type: 'object' }, execute: () => Date.now() })
      const note = chatMiddleware('note', async (context, callNext) => { await callNext(); console.log(context.result) })
      export const agent = (client) => new Agent({ client, tools: [now], middleware: [note] })
    `,
  },
  {
    name: 'that agent with the OpenAI client on fetch',
    goalBytes: 60_000,
    limitBytes: 59_600,
    source: applicationOn('@lamella/openai/fetch'),
  },
  {
    name: 'that agent with the OpenAI client on the SDK',
    goalBytes: 148_000,
    limitBytes: 146_600,
    source: applicationOn('@lamella/openai'),
  },
  {
    name: 'the OpenAI SDK alone',
    source: `import OpenAI from 'openai'; export const client = (apiKey) => new OpenAI({ apiKey })`,
    resolveDir: 'packages/openai',
  },
  {
    name: 'all that core exports',
    goalBytes: 18_000,
    limitBytes: 62_300,
    source: `export * from '@lamella/core'`,
  },
]

const budgetsFile = new URL('size-budgets.json', import.meta.url)
const budgets = JSON.parse(readFileSync(budgetsFile, 'utf8'))
const isUpdate = process.argv.includes('--update')

let over = false
console.log('minified and gzipped, in bytes')
for (const { name, source, goalBytes, limitBytes, resolveDir = 'examples' } of bundles) {
  const bytes = await bytesOf({ contents: source, resolveDir })
  if (limitBytes === undefined) {
    console.log(`${name.padEnd(45)} ${String(bytes).padStart(6)}`)
    continue
  }
  over ||= bytes > limitBytes
  const verdict = bytes > limitBytes ? 'OVER' : bytes > goalBytes ? 'over the goal' : 'ok'
  console.log(
    `${name.padEnd(45)} ${String(bytes).padStart(6)}, limit ${limitBytes}, goal ${goalBytes}: ${verdict}`,
  )
}

console.log('\neach entry without core and without its dependencies')
for (const folder of readdirSync('packages')) {
  const { name, exports } = JSON.parse(readFileSync(`packages/${folder}/package.json`, 'utf8'))
  for (const [entry, target] of Object.entries(exports)) {
    if (target.default === undefined) continue
    const source = `export * from '${target.default}'`
    const bytes = await bytesOf({ contents: source, resolveDir: `packages/${folder}` }, true)
    const id = name + entry.slice(1)
    if (isUpdate) budgets[id] = Math.ceil((bytes * 1.1) / 100) * 100
    const budget = budgets[id] ?? 0
    over ||= bytes > budget
    console.log(
      `${id.padEnd(30)} ${String(bytes).padStart(6)}, limit ${budget}: ${bytes > budget ? 'OVER' : 'ok'}`,
    )
  }
}
if (isUpdate) writeFileSync(budgetsFile, `${JSON.stringify(budgets, null, 2)}\n`)
process.exit(over ? 1 : 0)

async function bytesOf(stdin, alone = false) {
  const { outputFiles } = await build({
    stdin,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: alone ? 'node' : 'neutral',
    packages: alone ? 'external' : 'bundle',
    target: 'es2023',
  }).catch(() => process.exit(1)) // esbuild has said why
  return gzipSync(outputFiles[0].contents, { level: 9 }).length
}
