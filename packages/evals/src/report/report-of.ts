import { sha256, toBase64 } from '@lamella/core/authoring'
import { pictureOf } from '@lamella/picture'
import type { CaseSummary, Evaluation } from '../evaluation/evaluation.ts'
import { scoreCells, totalsOf } from '../evaluation/table-of.ts'
import type { RunRecord, RunRecords } from '../runs/run-record.ts'
import { failuresOf } from '../runs/run-record.ts'
import { pageScript, pageStyle } from './page-assets.ts'

/** An evaluation with its runs, and those of its baseline. */
export interface ReportedEvaluation {
  /** The evaluation. */
  readonly evaluation: Evaluation
  /** Its runs. */
  readonly records: RunRecords
  /** Runs of its baseline. @default none */
  readonly baseline?: RunRecords | undefined
}

/**
 * Draws evaluations as one HTML page that loads and sends nothing. It compares each case that failed or
 * changed with the baseline, and has the picture of its run. Content is shown as text only.
 */
export async function reportOf(evaluations: readonly ReportedEvaluation[]): Promise<string> {
  const picture = splitPicture(pictureOf(''))
  const data: string[] = []
  const sections: string[] = []
  for (const reported of evaluations) sections.push(await sectionOf(reported, data))
  const policy = [
    "default-src 'none'",
    `script-src ${await hashOf(pageScript)} ${picture.scriptHash}`,
    `style-src ${await hashOf(pageStyle)} ${picture.styleHash}`,
    'frame-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const frame = asText(JSON.stringify([picture.before, picture.after]))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${html(evaluations.map(({ evaluation: { name, verdict } }) => `${name}: ${verdict}`).join(', '))}</title>
<style>${pageStyle}</style>
</head>
<body>
<main>
<h1>Evaluations</h1>
${sections.join('\n')}
</main>
<script type="application/json" id="picture">${frame}</script>
${data.join('\n')}
<script>${pageScript}</script>
</body>
</html>
`
}

async function sectionOf(
  { evaluation, records, baseline }: ReportedEvaluation,
  data: string[],
): Promise<string> {
  const { name, verdict, reasons, checks, scores, cases } = evaluation
  const notable = cases.filter(isNotable).toSorted((a, b) => rank(a) - rank(b))
  const listed = notable.slice(0, mostCases)
  const wanted = new Set(listed.map(({ id }) => id))
  const now = await worstRuns(records, wanted)
  const before = await worstRuns(baseline ?? [], wanted)
  const left = notable.length - listed.length
  return `<section>
<h2>${html(name)}: <span class="${verdict}">${verdict}</span></h2>
<p>${html(totalsOf(evaluation))}</p>
${list(reasons)}
${table(
  ['check', 'passed runs'],
  checks.map((check) => [
    html(check.name),
    check.runs === 0 ? 'applies to no case' : `${check.runs - check.failed} of ${check.runs}`,
  ]),
)}
${table(
  ['score', 'mean and interval', 'threshold', 'baseline'],
  scores.map((score) => [html(score.name), ...scoreCells(score).map(html)]),
)}
<h3>Cases that failed or changed: ${notable.length} of ${cases.length}</h3>
${listed.map((each) => caseOf(each, now.get(each.id), before.get(each.id), data)).join('\n')}
${left === 0 ? '' : `<p>${left} more cases are not shown.</p>`}
</section>`
}

/** Of each wanted case the run that failed most, to show. */
async function worstRuns(
  records: RunRecords,
  wanted: ReadonlySet<string>,
): Promise<Map<string, RunRecord>> {
  const worst = new Map<string, RunRecord>()
  for await (const record of records) {
    if (!wanted.has(record.case)) continue
    const known = worst.get(record.case)
    if (known === undefined || badness(record) > badness(known)) worst.set(record.case, record)
  }
  return worst
}

function badness(record: RunRecord): number {
  const scores = Object.values(record.scores)
  const missed = scores.reduce((sum, score) => sum + 1 - score, 0) / (scores.length + 1)
  return failuresOf(record).length * 10 + (record.recording === undefined ? 0 : 5) + missed
}

function caseOf(
  summary: CaseSummary,
  now: RunRecord | undefined,
  before: RunRecord | undefined,
  data: string[],
): string {
  const { id, runs, failed, failures, scores } = summary
  const names = [...new Set([...Object.keys(scores), ...Object.keys(summary.before?.scores ?? {})])]
  const changes = names.map((name) => [
    html(name),
    shown(summary.before?.scores[name]),
    shown(scores[name]),
  ])
  const share = runs === 1 ? '' : ` in ${failed} of ${runs} runs`
  const state = changeOf(summary)
  return `<details>
<summary><span class="${classOf(state)}">${state}</span> ${html(id)}${failed > 0 ? `: failed${share}` : ''}</summary>
${list(failures)}
${table(['score', 'before', 'now'], changes)}
<dl>
<dt>Input</dt><dd>${html(now?.input ?? '')}</dd>
${before === undefined || before.output === '' ? '' : `<dt>Answer before</dt><dd>${html(before.output)}</dd>`}
<dt>Answer now</dt><dd>${html(now?.output ?? '')}</dd>
</dl>
${pictureFor(id, now?.recording, data)}
</details>`
}

function pictureFor(id: string, recording: string | undefined, data: string[]): string {
  if (recording === undefined) return ''
  const key = `recording-${data.length}`
  data.push(
    `<script type="application/json" id="${key}">${splitPicture(pictureOf(recording)).data}</script>`,
  )
  return `<iframe title="Picture of a run of ${html(id)}" sandbox="allow-scripts" data-recording="${key}"></iframe>`
}

function isNotable(summary: CaseSummary): boolean {
  return summary.failed > 0 || changeOf(summary) !== 'same'
}

/** Change of a case against its baseline, or its state without one. */
function changeOf({ failed, scores, before }: CaseSummary): string {
  if (before === undefined) return failed > 0 ? 'failed' : 'same'
  if (failed > 0) return before.failed > 0 ? 'still failed' : 'broken'
  if (before.failed > 0) return 'fixed'
  const differences = Object.entries(scores).map(
    ([name, now]) => now - (before.scores[name] ?? now),
  )
  if (differences.some((difference) => difference < -visible)) return 'worse'
  return differences.some((difference) => difference > visible) ? 'better' : 'same'
}

/** Smallest difference of a score that is shown as a change of a case. */
const visible = 0.05

const ranks = ['broken', 'failed', 'still failed', 'worse', 'fixed', 'better']

function rank(summary: CaseSummary): number {
  return ranks.indexOf(changeOf(summary))
}

function classOf(state: string): string {
  return state === 'fixed' || state === 'better' ? 'passed' : 'failed'
}

function shown(score: number | undefined): string {
  return score === undefined ? '' : score.toFixed(3)
}

function list(texts: readonly string[]): string {
  return texts.length === 0
    ? ''
    : `<ul>${texts.map((text) => `<li>${html(text)}</li>`).join('')}</ul>`
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const head = header.map((name) => `<th scope="col">${name}</th>`).join('')
  const body = rows.map(([first, ...rest]) => {
    const cells = rest.map((cell) => `<td>${cell}</td>`).join('')
    return `<tr><th scope="row">${first}</th>${cells}</tr>`
  })
  return `<table><thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table>`
}

/** The page of a picture, cut around its data, so that all pictures of a report share the rest. */
function splitPicture(page: string): {
  readonly before: string
  readonly data: string
  readonly after: string
  readonly scriptHash: string
  readonly styleHash: string
} {
  const start = '<script type="application/json" id="data">'
  const from = page.indexOf(start) + start.length
  const to = page.indexOf('</script>', from)
  const [, scriptHash = ''] = /script-src ('sha256-[^']+')/.exec(page) ?? []
  const [, styleHash = ''] = /style-src ('sha256-[^']+')/.exec(page) ?? []
  return {
    before: page.slice(0, from),
    data: page.slice(from, to),
    after: page.slice(to),
    scriptHash,
    styleHash,
  }
}

async function hashOf(text: string): Promise<string> {
  const hex = await sha256(text)
  const bytes = hex.match(/../g)!.map((pair) => Number.parseInt(pair, 16))
  return `'sha256-${toBase64(Uint8Array.from(bytes))}'`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

function html(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character]!)
}

/** JSON that no parser of HTML takes for anything but text. */
function asText(json: string): string {
  return json.replaceAll('<', '\\u003c')
}

/** More would make a page that nobody reads. */
const mostCases = 200
