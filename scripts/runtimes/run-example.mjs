import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { runProgram } from './run-program.mjs'

const source = '@lamella/source'

/** The example that is made for a runtime, by the runtime's name: how it is run, and what it must say. */
const examples = {
  bun: {
    file: 'examples/52-bun.ts',
    says: 'served by Bun',
    args: ({ file }) => ['--no-install', `--conditions=${source}`, file],
  },
  deno: {
    file: 'examples/51-deno.ts',
    says: 'served by Deno',
    args: ({ file }) => [
      'run',
      '--no-prompt',
      '--no-remote',
      '--no-lock',
      `--conditions=${source}`,
      '--allow-net=127.0.0.1',
      file,
    ],
  },
  workerd: {
    file: 'examples/50-edge-worker.ts',
    says: 'Cloudflare-Workers',
    args: async ({ file, folder }) => ['test', await edgeWorker(file, folder)],
  },
}

/** Runs the example of a runtime, if there is one, and says whether it went well. */
export async function runExample({ name, command, env }, { folder, timeoutMs }) {
  const example = examples[name]
  if (example === undefined) return true
  const args = await example.args({ file: example.file, folder })
  const { code, output, errors } = await runProgram(command, args, { env, timeoutMs })
  // workerd tells what a worker logs among its own messages.
  const passed = code === 0 && `${output}${errors}`.includes(example.says)
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${name.padEnd(8)} ${example.file}`)
  if (!passed) console.log(`  ended with ${code}: ${output}${errors}`.replaceAll(/\n/g, '\n  '))
  return passed
}

/** Bundles a worker as tools for edge workers do, and writes the configuration that runs it. */
async function edgeWorker(file, folder) {
  await build({
    entryPoints: [file],
    outfile: join(folder, 'edge.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2023',
    mainFields: ['module', 'main'],
    conditions: [source, 'worker', 'import', 'default'],
    logLevel: 'error',
  })
  const path = join(folder, 'edge.capnp')
  await writeFile(
    path,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "edge", worker = (
    modules = [(name = "edge.mjs", esModule = embed "edge.mjs")],
    compatibilityDate = "2026-11-17",
  ))],
);
`,
  )
  return path
}
