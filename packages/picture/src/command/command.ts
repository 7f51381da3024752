import { readFile, writeFile } from 'node:fs/promises'
import { basename, resolve, sep } from 'node:path'
import { parseArgs } from 'node:util'
import { pictureOf } from '../views/picture-of.ts'
import { readRecording } from '../reading/read-recording.ts'
import { replayOf } from '../views/replay-of.ts'
import { textOf } from '../views/text-of.ts'
import { whereTheyPart } from '../views/where-they-part.ts'
import { serveLive } from './live-server.ts'
import { replayModule } from './replay-module.ts'

const help = `lamella-picture <run.jsonl> [options]            writes the page of a recording
lamella-picture <run.jsonl> --text               prints the onion
lamella-picture <run.jsonl> --live [--port <n>]  serves the page and follows the file
lamella-picture diff <a.jsonl> <b.jsonl>         shows the first difference of two runs
lamella-picture replay <run.jsonl> [-o <file>]   prints a module with a scripted client for a test

  -o, --output <file>   file to write (by default the recording's name with .html)
  --yes                 write a page with full content into a folder that is likely to be served
  --help                show this help

Exit codes: 0 for success, 1 if two runs differ, 2 if a file cannot be read or written.
`

/** Outputs of a command, and the signal that ends one that keeps running. */
export interface CommandOutput {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Ends `--live`. */
  readonly signal?: AbortSignal | undefined
}

/** Runs the command; resolves to its exit code. */
export async function runCommand(args: readonly string[], output: CommandOutput): Promise<number> {
  const { out, err } = output
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        output: { type: 'string', short: 'o' },
        text: { type: 'boolean' },
        live: { type: 'boolean' },
        port: { type: 'string' },
        yes: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    })
    const [first, second, third] = positionals
    if (values.help === true) {
      out(help)
      return 0
    }
    if (first === 'diff' && second !== undefined && third !== undefined && positionals.length === 3)
      return await compare(second, third, out)
    if (first === 'replay' && second !== undefined && positionals.length === 2)
      return await replay(second, values.output, output)
    if (first === undefined || positionals.length > 1) {
      err(help)
      return 2
    }
    if (values.live === true) return await follow(first, portOf(values.port), output)
    const recording = await readFile(first, 'utf8')
    if (values.text === true) out(textOf(recording))
    else await draw(first, recording, values, out)
    return 0
  } catch (error) {
    err(`lamella-picture: ${error instanceof Error ? error.message : String(error)}\n`)
    return 2
  }
}

async function draw(
  file: string,
  recording: string,
  values: { readonly output?: string | undefined; readonly yes?: boolean | undefined },
  out: (text: string) => void,
): Promise<void> {
  const target = values.output ?? `${file.replace(/\.jsonl$/, '')}.html`
  const isFull = readRecording(recording).some(({ line }) => line?.capture === 'full')
  if (isFull && values.yes !== true && isServed(target)) {
    throw new Error(
      `${target} is in a folder that is likely to be served, and the recording holds full content; add --yes to write it there`,
    )
  }
  await writeFile(target, pictureOf(recording), { mode: 0o600 })
  out(`${target}\n`)
}

/** Tells if a folder on the way to a file has a name that web servers and bundlers publish. */
function isServed(file: string): boolean {
  const folders = resolve(file).split(sep).slice(0, -1)
  return folders.some((name) => ['public', 'dist', 'static', 'www', 'htdocs'].includes(name))
}

async function compare(
  first: string,
  second: string,
  out: (text: string) => void,
): Promise<number> {
  const [left, right] = await Promise.all([readFile(first, 'utf8'), readFile(second, 'utf8')])
  const parting = whereTheyPart(left, right)
  if (parting === undefined) {
    out('The runs do not differ.\n')
    return 0
  }
  const { call, part, difference } = parting
  out(`The runs part at ${call}${part === 'call' || part === 'end' ? '' : `, in its ${part}`}:\n`)
  out(difference.replace(/[^\P{Cc}\n\t]/gu, ''))
  return 1
}

async function replay(
  file: string,
  target: string | undefined,
  { out }: CommandOutput,
): Promise<number> {
  const text = replayModule(replayOf(await readFile(file, 'utf8')), basename(file))
  if (target === undefined) out(text)
  else {
    await writeFile(target, text)
    out(`${target}\n`)
  }
  return 0
}

async function follow(file: string, port: number, { out, signal }: CommandOutput): Promise<number> {
  const server = await serveLive(file, port)
  out(`${server.url}\n`)
  await new Promise<void>((resolveEnd) => {
    if (signal?.aborted === true) resolveEnd()
    signal?.addEventListener('abort', () => resolveEnd(), { once: true })
  })
  await server.close()
  return 0
}

function portOf(given: string | undefined): number {
  const port = Number(given ?? 0)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new RangeError(`--port: expected a number from 0 to 65535, got "${given}"`)
  return port
}
