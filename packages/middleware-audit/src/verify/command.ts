import { createPublicKey } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { AuditKey } from '../record/audit-signature.ts'
import type { Verification } from './verify.ts'
import { verify } from './verify.ts'

const help = `lamella-audit verify [options] <file> [<file> …]

Finds the first line of an audit log that was altered, removed or inserted.
Several files are read as one log, in their order.

  --key <id>=<file>   a signing key: its id, and a file with the public key in PEM or the secret
                      (repeatable; without a key, signatures are not checked)
  --last <hash>       the expected hash of the last line
  --includes <hash>   the hash of a line that you saw before and that the log must contain (repeatable)
  --field <name>      the field of other JSON lines that has the records, as loggers write them
  --json              print the result as JSON
  --help              show this help

Exit codes: 0 if the log has lines and all are intact, 1 if not, 2 if it cannot be read.
`

/** Output of a command. */
export interface CommandOutput {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
}

/** Runs the command and resolves to its exit code. */
export async function runCommand(
  args: readonly string[],
  { out, err }: CommandOutput,
): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        key: { type: 'string', multiple: true },
        last: { type: 'string' },
        includes: { type: 'string', multiple: true },
        field: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    })
    const [command, ...files] = positionals
    if (values.help === true || command !== 'verify' || files.length === 0) {
      ;(values.help === true ? out : err)(help)
      return values.help === true ? 0 : 2
    }
    const { last, includes, field } = values
    const keys = values.key && (await readKeys(values.key))
    const found = await verify(files, { keys, last, includes, field })
    // An empty file is not a log: it may have been emptied.
    const result: Verification =
      found.ok && found.lines === 0 ? { ...found, ok: false, problem: empty } : found
    out(values.json === true ? `${JSON.stringify(result)}\n` : describe(result, keys !== undefined))
    return result.ok ? 0 : 1
  } catch (error) {
    err(`lamella-audit: ${printable(error instanceof Error ? error.message : String(error))}\n`)
    return 2
  }
}

function describe({ ok, lines, head, problem }: Verification, withKeys: boolean): string {
  const verified = `${lines} ${lines === 1 ? 'line' : 'lines'} verified${withKeys ? ', including signatures' : ''}`
  const end = head === undefined ? '' : `, last hash ${head.hash}`
  if (ok) return `ok: ${verified}${end}\n`
  const { line, kind, message } = problem!
  return `line ${line} ${verb[kind]}: ${printable(message)}\n${verified}${end}\n`
}

/** Replaces control characters and invisible characters with their code. */
function printable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${character.codePointAt(0)!.toString(16)}}`
  })
}

const empty = { line: 1, kind: 'removed', message: 'the log has no lines' } as const

const verb = {
  altered: 'was altered',
  removed: 'shows that lines were removed',
  inserted: 'was inserted',
  incomplete: 'is incomplete',
}

async function readKeys(given: readonly string[]): Promise<Record<string, AuditKey>> {
  const keys: Record<string, AuditKey> = {}
  for (const entry of given) {
    const at = entry.indexOf('=')
    if (at < 1) throw new TypeError(`--key: expected <id>=<file>, got "${entry}"`)
    const text = await readFile(entry.slice(at + 1), 'utf8')
    keys[entry.slice(0, at)] = text.includes('-----BEGIN') ? createPublicKey(text) : text.trimEnd()
  }
  return keys
}
