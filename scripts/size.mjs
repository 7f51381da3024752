// Measures what core adds to an application: bundled from source, minified, gzipped. The goal of each
// bundle is not reached yet (docs/decisions/0010-a-size-budget.md); until then the limit is what it has
// come to, and goes down with it.
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const bundles = [
  {
    name: 'an agent, a tool and a layer',
    goalBytes: 12_000,
    limitBytes: 29_150,
    source: `
      import { Agent, chatMiddleware, tool } from '@lamella/core'
      const now = tool({ name: 'now', description: 'The time.', parameters: { type: 'object' }, execute: () => Date.now() })
      const note = chatMiddleware('note', async (context, callNext) => { await callNext(); console.log(context.result) })
      export const agent = (client) => new Agent({ client, tools: [now], middleware: [note] })
    `,
  },
  {
    name: 'all that core exports',
    goalBytes: 18_000,
    limitBytes: 41_150,
    source: `export * from '@lamella/core'`,
  },
]

let over = false
console.log('minified and gzipped, in bytes')
for (const { name, source, goalBytes, limitBytes } of bundles) {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: 'examples' },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'es2023',
    conditions: ['@lamella/source'],
  }).catch(() => process.exit(1)) // esbuild has said why
  const bytes = gzipSync(outputFiles[0].contents, { level: 9 }).length
  over ||= bytes > limitBytes
  const verdict = bytes > limitBytes ? 'OVER' : bytes > goalBytes ? 'over the goal' : 'ok'
  console.log(
    `${name.padEnd(30)} ${String(bytes).padStart(6)}, limit ${limitBytes}, goal ${goalBytes}: ${verdict}`,
  )
}
process.exit(over ? 1 : 0)
