import type { CaseSummary, Evaluation, ScoreSummary } from './evaluation.ts'

/** Draws an evaluation as text for a terminal or a log: its verdict, checks, scores, and cases that failed. */
export function tableOf(evaluation: Evaluation): string {
  const { name, verdict, reasons, checks, scores, cases } = evaluation
  const rows = [
    ...checks.map((check) => [
      'check',
      check.name,
      check.runs === 0 ? 'applies to no case' : `${check.runs - check.failed} of ${check.runs}`,
    ]),
    ...scores.map((score) => ['score', score.name, ...scoreCells(score)]),
  ]
  const failed = cases.filter((each) => each.failed > 0)
  const lines = [
    `${name}: ${verdict}`,
    `  ${totalsOf(evaluation)}`,
    ...reasons.map((reason) => `  ${reason}`),
    ...aligned(rows).map((row) => `  ${row}`),
    ...failed.slice(0, mostCases).map((each) => `  ${caseLine(each)}`),
    ...(failed.length > mostCases ? [`  and ${failed.length - mostCases} more cases`] : []),
  ]
  return plain(lines.join('\n'))
}

/** Runs, cases, money and time of an evaluation in one line. */
export function totalsOf({ runs, cases, tokens, costUsd, latencyMs }: Evaluation): string {
  const parts = [
    counted(runs, 'run'),
    counted(cases.length, 'case'),
    counted(tokens, 'token'),
    ...(costUsd === undefined ? [] : [`${costUsd.toPrecision(3)} US dollars`]),
    `median ${duration(latencyMs.median)}, 95% within ${duration(latencyMs.p95)}`,
  ]
  return parts.join(', ')
}

/** Mean, interval, threshold and comparison of a score. */
export function scoreCells({ mean, low, high, runs, threshold, baseline }: ScoreSummary): string[] {
  if (runs === 0) return ['applies to no case']
  const change = baseline && (baseline.change === 'none' ? 'as before' : baseline.change)
  return [
    `${mean.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`,
    threshold === undefined ? '' : `at least ${threshold}`,
    baseline === undefined
      ? ''
      : `${signed(baseline.difference)} against ${baseline.mean.toFixed(3)}, p = ${baseline.p.toFixed(4)}: ${change}`,
  ]
}

/** Removes characters that would control a terminal. */
export function plain(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, '')
}

/** Lines of cells, each column as wide as its widest cell. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  }
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  )
}

function caseLine({ id, runs, failed, failures }: CaseSummary): string {
  const share = runs === 1 ? '' : ` (${failed} of ${runs} runs)`
  return `failed: ${id}${share}: ${failures.join('; ').replaceAll('\n', ' ').slice(0, 300)}`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

function signed(difference: number): string {
  return `${difference < 0 ? '' : '+'}${difference.toFixed(3)}`
}

const mostCases = 20
