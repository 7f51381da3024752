import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isBad } from '../evaluation/assert-passed.ts'
import { tableOf } from '../evaluation/table-of.ts'
import { junitOf } from '../report/junit-of.ts'
import type { ReportedEvaluation } from '../report/report-of.ts'
import { reportOf } from '../report/report-of.ts'
import { summaryOf } from '../report/summary-of.ts'
import type { CommandOutput } from './command-options.ts'

/** Prints tables, writes the HTML page, JUnit XML and GitHub's summary, and returns the exit code. */
export async function writeReports(
  folder: string,
  reported: readonly ReportedEvaluation[],
  { out, env = {} }: CommandOutput,
): Promise<number> {
  const evaluations = reported.map(({ evaluation }) => evaluation)
  for (const evaluation of evaluations) out(`${tableOf(evaluation)}\n\n`)
  await mkdir(folder, { recursive: true })
  const page = join(folder, 'report.html')
  await writeFile(page, await reportOf(reported), { mode: 0o600 })
  await writeFile(join(folder, 'junit.xml'), junitOf(evaluations), { mode: 0o600 })
  const summary = env['GITHUB_STEP_SUMMARY']
  if (summary !== undefined && summary !== '') await appendFile(summary, summaryOf(evaluations))
  out(`${page}\n`)
  return evaluations.some(isBad) ? 1 : 0
}
