// Measures guardrails on labelled lines.
// usage: node --conditions=@lamella/source scripts/eval.ts [--update] [guardrail [file.jsonl [--predictions <file>]]]
// Without a file, a guardrail's own corpus is measured and compared with its baseline; without a guardrail, all of them.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import type {
  EvaluationRow,
  GuardrailEvaluation,
  Prediction,
} from './evaluation/guardrail-evaluation.ts'
import { readTruth } from './evaluation/guardrail-evaluation.ts'
import type { Figures, Scored } from './evaluation/score-predictions.ts'
import { isGoodWhenHigh, scorePredictions } from './evaluation/score-predictions.ts'

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { predictions: { type: 'string' }, update: { type: 'boolean', default: false } },
})
const [guardrail, file] = positionals
const known = globSync('packages/guardrail-*/eval/predict.ts')
  .map((path) => path.replace(/^.*guardrail-([^/\\]+).*$/, '$1'))
  .toSorted()
if (guardrail !== undefined && !known.includes(guardrail)) {
  fail(`there is no guardrail "${guardrail}" with an evaluation, expected: ${known.join(', ')}`)
}

if (guardrail !== undefined && file !== undefined) {
  if (!existsSync(file)) fail(`there is no file ${file}`)
  const { predictions, figures, times } = await evaluate(guardrail, file)
  print(guardrail, file, figures, times)
  if (flags.predictions !== undefined) {
    const lines = predictions.map((prediction) => `${JSON.stringify(prediction)}\n`)
    writeFileSync(flags.predictions, lines.join(''))
  }
} else {
  const worse: string[] = []
  for (const name of guardrail === undefined ? known : [guardrail])
    worse.push(...(await compare(name)))
  if (worse.length > 0) fail(`worse than the baseline:\n${worse.join('\n')}`)
}

interface Evaluated {
  readonly predictions: readonly (Prediction & { readonly id: string })[]
  readonly figures: Figures
  /** Milliseconds for each row, in ascending order. */
  readonly times: readonly number[]
}

async function evaluate(name: string, path: string): Promise<Evaluated> {
  const source = pathToFileURL(`packages/guardrail-${name}/eval/predict.ts`).href
  const { evaluation } = (await import(source)) as { evaluation: GuardrailEvaluation }
  const rows = readRows(path)
  const scored: Scored[] = []
  const predictions: (Prediction & { id: string })[] = []
  const times: number[] = []
  for (const row of rows) {
    const truth = evaluation.truth ? evaluation.truth(row) : readTruth(row)
    if (truth === undefined) continue
    const start = performance.now()
    const prediction = await evaluation.predict(row)
    times.push(performance.now() - start)
    predictions.push({ id: row.id, ...prediction })
    scored.push({ text: row.text, truth, prediction })
  }
  if (scored.length === 0) fail(`${path} has no row for ${name}`)
  return {
    predictions,
    figures: scorePredictions(scored),
    times: times.toSorted((a, b) => a - b),
  }
}

function readRows(path: string): EvaluationRow[] {
  const bytes = readFileSync(path)
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line))
}

/** Measures a guardrail on its own corpus; returns a line for each figure that got worse. */
async function compare(name: string): Promise<string[]> {
  const folder = `packages/guardrail-${name}/eval`
  const corpus = `${folder}/corpus.jsonl`
  const baseline = `${folder}/baseline.json`
  const { figures, times } = await evaluate(name, corpus)
  print(name, corpus, figures, times)
  if (flags.update) {
    writeFileSync(baseline, `${JSON.stringify(rounded(figures), null, 2)}\n`)
    return []
  }
  if (!existsSync(baseline)) return [`${name}: there is no ${baseline}; write it with --update`]
  const expected: Figures = JSON.parse(readFileSync(baseline, 'utf8'))
  return Object.entries(expected)
    .filter(([figure, limit]) => {
      const value = figures[figure]
      if (value === undefined) return true
      return isGoodWhenHigh(figure) ? value < limit - 0.0001 : value > limit + 0.0001
    })
    .map(([figure, limit]) => `${name}: ${figure} is ${shown(figures[figure])}, was ${limit}`)
}

function rounded(figures: Figures): Figures {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, Number(value.toFixed(4))]),
  )
}

function print(name: string, path: string, figures: Figures, times: readonly number[]): void {
  console.log(`\n${name} on ${path}: ${times.length} rows`)
  for (const [figure, value] of Object.entries(figures)) {
    console.log(`  ${figure.padEnd(44)} ${shown(value)}`)
  }
  const at = (share: number): string =>
    (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(3)
  console.log(`  latency of a row: median ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`)
}

function shown(value: number | undefined): string {
  return value === undefined ? 'missing' : value.toFixed(4)
}

function fail(message: string): never {
  console.error(`eval: ${message}`)
  process.exit(1)
}
