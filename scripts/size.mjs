// Measures what core adds to an application, and whole applications: the built packages, bundled, minified, gzipped.
// The limits are in size-budgets.json, a tenth above the size of an entry when they were set.
// usage: node scripts/size.mjs [--release | --decision=<record>]
import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { isMoving, moveBaseline, readBaseline } from './baseline.mjs'

/** An agent with a tool, a middleware and an OpenAI client of `entry`. */
const applicationOn = (entry) => `
  import { Agent, chatMiddleware, tool } from '@lamella/core'
  import { OpenAIChatClient } from '${entry}'
  const now = tool({ name: 'now', description: 'The time.', execute: () => Date.now() })
  const note = chatMiddleware('note', async (context, callNext) => { await callNext(); console.log(context.result) })
  export const agent = (apiKey) => new Agent({ client: new OpenAIChatClient({ apiKey, model: 'gpt-5-mini' }), tools: [now], middleware: [note] })
`

const bundles = [
  {
    name: 'an agent, a tool and a middleware',
    goalBytes: 31_000,
    source: `
      import { Agent, chatMiddleware, tool } from '@lamella/core'
      const now = tool({ name: 'now', description: 'The time.', execute: () => Date.now() })
      const note = chatMiddleware('note', async (context, callNext) => { await callNext(); console.log(context.result) })
      export const agent = (client) => new Agent({ client, tools: [now], middleware: [note] })
    `,
  },
  {
    name: 'that agent with the OpenAI client on fetch',
    goalBytes: 50_000,
    source: applicationOn('@lamella/openai/fetch'),
  },
  {
    name: 'that agent with the OpenAI client on the SDK',
    goalBytes: 148_000,
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
    source: `export * from '@lamella/core'`,
  },
]

const file = 'scripts/size-budgets.json'
const limits = readBaseline(file)
const now = { bundles: {}, entries: {} }

const over = []
console.log('minified and gzipped, in bytes')
for (const { name, source, goalBytes, resolveDir = 'examples' } of bundles) {
  const bytes = await bytesOf({ contents: source, resolveDir })
  if (goalBytes === undefined) console.log(`${name.padEnd(45)} ${String(bytes).padStart(6)}`)
  else {
    now.bundles[name] = Math.ceil(bytes / 100) * 100
    report(name, bytes, limits.bundles[name], `, goal ${goalBytes}`)
  }
}

console.log('\neach entry without core and without its dependencies')
for (const folder of readdirSync('packages')) {
  const { name, exports } = JSON.parse(readFileSync(`packages/${folder}/package.json`, 'utf8'))
  for (const [entry, target] of Object.entries(exports)) {
    if (target.default === undefined) continue
    const source = `export * from '${target.default}'`
    const bytes = await bytesOf({ contents: source, resolveDir: `packages/${folder}` }, true)
    const id = name + entry.slice(1)
    now.entries[id] = Math.ceil((bytes * 1.1) / 100) * 100
    report(id, bytes, limits.entries[id], '')
  }
}
moveBaseline(file, now)
if (over.length > 0) {
  console.error(
    `${over.join(', ')}: make it smaller, or record why not: see docs/decisions/0024-fixed-baselines.md`,
  )
}
process.exit(over.length > 0 ? 1 : 0)

function report(name, bytes, limit = 0, more) {
  const isThisOver = bytes > limit && !isMoving()
  if (isThisOver) over.push(name)
  console.log(
    `${name.padEnd(45)} ${String(bytes).padStart(6)}, limit ${limit}${more}: ${isThisOver ? 'OVER' : 'ok'}`,
  )
}

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
