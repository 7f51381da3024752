import type { Evaluation } from '../evaluation/evaluation.ts'
import { plain, scoreCells, totalsOf } from '../evaluation/table-of.ts'

/** Draws evaluations as Markdown, for the summary of a GitHub job. */
export function summaryOf(evaluations: readonly Evaluation[]): string {
  return evaluations.map(sectionOf).join('\n')
}

function sectionOf(evaluation: Evaluation): string {
  const { name, verdict, reasons, checks, scores, cases } = evaluation
  const failed = cases.filter((each) => each.failed > 0)
  const rows = [
    ...checks.map((check) => [check.name, `${check.runs - check.failed} of ${check.runs}`]),
    ...scores.map((score) => [score.name, scoreCells(score).filter(Boolean).join(', ')]),
  ]
  const lines = [
    `## ${cell(name)}: ${verdict}`,
    '',
    totalsOf(evaluation),
    '',
    ...reasons.map((reason) => `- ${cell(reason)}`),
    '',
    ...table(['check or score', 'result'], rows),
    ...(failed.length === 0
      ? []
      : table(
          ['failed case', 'reason'],
          failed.slice(0, mostCases).map(({ id, failures }) => [id, failures.join('; ')]),
        )),
    ...(failed.length > mostCases ? [`and ${failed.length - mostCases} more cases`, ''] : []),
  ]
  return lines.join('\n')
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`
  return [line(header), `|${header.map(() => '---').join('|')}|`, ...rows.map(line), '']
}

/** Text of strangers, which is no markup. */
function cell(text: string): string {
  return plain(text.slice(0, 300))
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/[\\`*_{}[\]()#!|~<>&@:]/g, (character) => `&#${character.codePointAt(0)};`)
}

const mostCases = 50
