import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { runProgram } from './run-program.mjs'

const source = '@lamella/source'

const served = 'examples/71-served-anywhere.ts'

/** How the examples of a runtime are run, by the runtime's name, and what each must say. */
const runtimes = {
  bun: {
    says: { 'examples/52-bun.ts': 'served by Bun', [served]: 'a chat was served by Bun' },
    args: ({ file }) => ['--no-install', `--conditions=${source}`, file],
  },
  deno: {
    says: { 'examples/51-deno.ts': 'served by Deno', [served]: 'a chat was served by Deno' },
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
    says: {
      'examples/50-edge-worker.ts': 'Cloudflare-Workers',
      [served]: 'a chat was served in Cloudflare-Workers',
    },
    args: async ({ file, folder }) => ['test', await edgeWorker(file, folder)],
  },
}

/** Runs the examples of a runtime, if there are some, and says whether they went well. */
export async function runExamples({ name, command, env }, { folder, timeoutMs }) {
  let allPassed = true
  const { says = {}, args: argsOf } = runtimes[name] ?? {}
  for (const [file, words] of Object.entries(says)) {
    const args = await argsOf({ file, folder })
    const { code, output, errors } = await runProgram(command, args, { env, timeoutMs })
    // workerd tells what a worker logs among its own messages.
    const passed = code === 0 && `${output}${errors}`.includes(words)
    console.log(`${passed ? 'ok    ' : 'FAILED'} ${name.padEnd(8)} ${file}`)
    if (!passed) console.log(`  ended with ${code}: ${output}${errors}`.replaceAll(/\n/g, '\n  '))
    allPassed &&= passed
  }
  return allPassed
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
