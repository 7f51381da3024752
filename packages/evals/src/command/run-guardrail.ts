import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { plain } from '../evaluation/table-of.ts'
import type { EvaluateGuardrailOptions } from '../guardrails/evaluate-guardrail.ts'
import { evaluateGuardrail, guardrailTable } from '../guardrails/evaluate-guardrail.ts'
import type { Figures } from '../guardrails/score-predictions.ts'
import type { CommandOptions, CommandOutput } from './command-options.ts'
import type { Suite } from './find-suites.ts'
import { readLines } from './read-lines.ts'

/**
 * Runs the evaluation of a guardrail; resolves to the exit code. Its own lines are compared with its
 * baseline, other lines are only measured.
 */
export async function runGuardrail(
  { file, options }: Suite<EvaluateGuardrailOptions>,
  { lines, predictions, baseline: given, update }: CommandOptions,
  { out }: CommandOutput,
): Promise<number> {
  const path = given ?? join(dirname(file), `${options.name}.baseline.json`)
  const isCompared = !update && (given !== undefined || lines === undefined)
  const baseline = isCompared ? await readFigures(path) : undefined
  const predicted: string[] = []
  const evaluation = await evaluateGuardrail({
    ...options,
    ...(lines !== undefined && { lines: readLines(lines) }),
    ...(baseline && { baseline }),
    onPrediction: (id, prediction) => {
      options.onPrediction?.(id, prediction)
      if (predictions !== undefined) predicted.push(`${JSON.stringify({ id, ...prediction })}\n`)
    },
  })
  out(`${plain(guardrailTable(evaluation))}\n\n`)
  if (predictions !== undefined) await writeFile(predictions, predicted.join(''))
  if (update) await writeFile(path, `${JSON.stringify(rounded(evaluation.figures), null, 2)}\n`)
  return evaluation.verdict === 'worse' ? 1 : 0
}

async function readFigures(path: string): Promise<Figures | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Figures
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function rounded(figures: Figures): Figures {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, Number(value.toFixed(4))]),
  )
}
