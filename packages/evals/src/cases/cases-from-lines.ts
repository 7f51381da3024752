import { checkCase } from './check-case.ts'
import type { EvaluationCase } from './evaluation-case.ts'
import type { Texts } from './gathered-cases.ts'

/**
 * Reads a case from each line of JSON. Blank lines are left out.
 * @throws TypeError that names the line and the field
 * @example
 * ```ts
 * import { casesFromLines } from '@lamella/evals'
 *
 * const lines = ['{"id": "hours", "input": "When do you close?", "tags": ["hours"]}']
 * for await (const { id } of casesFromLines(lines)) console.log(id) // hours
 * ```
 */
export async function* casesFromLines(lines: Texts): AsyncGenerator<EvaluationCase> {
  let at = 0
  for await (const line of lines) {
    at++
    if (line.trim() === '') continue
    yield checkCase(`line ${at}`, readLine(line, at))
  }
}

function readLine(line: string, at: number): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new TypeError(`line ${at}: it is no JSON`, { cause: error })
  }
}
