import type { Explanation } from '@lamella/core'
import { flatRows, onionOf } from '../reading/onion.ts'
import { readRecording } from '../reading/read-recording.ts'
import type { RunPicture } from '../reading/run-picture.ts'
import { duration, exitWords, money, statusOf, tokens, whyItEnded } from '../reading/words.ts'

const barWidth = 24

/**
 * Draws the onion of each run of a recording as text, for a terminal: a row for each call and each
 * of its middleware, with its own time and its actions. For the result of `explain(agent)`, it
 * draws the onion of a future run.
 * @param recording JSON lines as a `recorder()` writes them, or an explanation
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { recorder, textOf } from '@lamella/picture'
 * import { scriptedClient } from '@lamella/testing'
 *
 * let recording = ''
 * const record = recorder({ sink: { write: (lines) => void (recording += lines) } })
 * await new Agent({ client: scriptedClient(['Hi!']), middleware: record.middleware() }).run('Hello')
 * await record.flush()
 * console.log(textOf(recording))
 * ```
 */
export function textOf(recording: string | Explanation): string {
  const runs = readRecording(recording)
  return runs.length === 0 ? 'The recording has no run.\n' : runs.map(textOfRun).join('\n')
}

function textOfRun(run: RunPicture): string {
  const { line, end } = run
  const { plan } = line ?? {}
  const spent = [
    plan === undefined ? duration(run.last - run.start) : '',
    end === undefined ? '' : tokens(end.usage),
    end?.cost === undefined ? '' : money(end.cost),
  ]
  const status = statusOf(run)
  const lines = [
    [`${line?.agent ?? 'Run'}: ${exitWords[status] ?? status}`, ...spent.filter(Boolean)].join(
      ' · ',
    ),
    whyItEnded(run),
    ...(plan?.warnings.map((warning) => `! ${warning}`) ?? []),
    '',
    ...chains(run),
  ]
  const rows = flatRows(onionOf(run)).map(({ row, depth }) => {
    const isCall = row.kind === 'run' || row.kind === 'model' || row.kind === 'tool'
    const said = [
      ...row.marks.map(({ text }) => text),
      row.usage === undefined || Object.keys(row.usage).length === 0 ? '' : tokens(row.usage),
      row.cost === undefined ? '' : money(row.cost),
    ]
    const ms = row.ownMs === undefined ? duration(row.totalMs) : `own ${duration(row.ownMs)}`
    return {
      name: `${'  '.repeat(depth - 1)}${isCall ? '' : '│ '}${row.name}`,
      ms,
      bar: barOf(row.bars, run),
      said: said.filter(Boolean).join(', '),
    }
  })
  const nameWidth = Math.min(44, Math.max(...rows.map(({ name }) => name.length)))
  if (plan !== undefined) return printed([...lines, ...rows.map(({ name }) => name)])
  const msWidth = Math.max(...rows.map(({ ms }) => ms.length))
  for (const { name, ms, bar, said } of rows)
    lines.push(`${fit(name, nameWidth)}  ${bar}  ${ms.padStart(msWidth)}  ${said}`.trimEnd())
  return printed(lines)
}

function printed(lines: readonly string[]): string {
  return `${lines.map(printable).join('\n')}\n`
}

function chains({ line }: RunPicture): string[] {
  if (line === undefined) return []
  const { middleware, tools, client, model } = line
  const cores = {
    agent: 'loop',
    chat: [client, model].filter(Boolean).join(' ') || 'provider',
    function: tools.join(', ') || '(no tools)',
  }
  // As `String(explain(agent))` has them.
  const words = { agent: 'run', chat: 'model call', function: 'tool call' }
  const levels = ['agent', 'chat', 'function'] as const
  return [
    ...levels.map((level) => {
      const names = middleware[level].map(({ name }) => name)
      return `${words[level].padEnd(12)}${[...names, cores[level]].join(' → ')}`
    }),
    '',
  ]
}

function barOf(
  bars: readonly { readonly from: number; readonly to: number; readonly kind: string }[],
  { start, last }: RunPicture,
): string {
  const cells = Array.from({ length: barWidth }, () => ' ')
  const place = (t: number): number =>
    Math.min(barWidth - 1, Math.max(0, Math.floor(((t - start) / (last - start || 1)) * barWidth)))
  const draw = (kinds: readonly string[], sign: string): void => {
    for (const { from, to } of bars.filter(({ kind }) => kinds.includes(kind)))
      cells.fill(sign, place(from), place(to) + 1)
  }
  const isCall = bars.every(({ kind }) => kind !== 'own')
  draw(['inside'], isCall ? '█' : '─')
  draw(['own'], '▌')
  draw(['core'], '▒')
  return cells.join('')
}

function fit(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width)
}

/** Without what could command a terminal, or turn the order of letters around. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
}
