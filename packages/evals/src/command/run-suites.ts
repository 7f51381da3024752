import { access, copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { MiddlewareInput } from '@lamella/core'
import { canonicalJson, jsonCopy, sha256 } from '@lamella/core/authoring'
import type { CaseSource, EvaluationCase } from '../cases/evaluation-case.ts'
import { evaluate, yardstickOf } from '../evaluation/evaluate.ts'
import type { ReportedEvaluation } from '../report/report-of.ts'
import type { RunRecord } from '../runs/run-record.ts'
import type { CommandOptions, CommandOutput } from './command-options.ts'
import type { Suite } from './find-suites.ts'
import { findSuites } from './find-suites.ts'
import { appendLine, readHeader, readRecords } from './record-file.ts'
import { writeReports } from './write-reports.ts'

/** Runs the evaluations of files and folders; resolves to the exit code. */
export async function runSuites(
  paths: readonly string[],
  options: CommandOptions,
  output: CommandOutput,
): Promise<number> {
  const suites = await findSuites(paths.length === 0 ? ['evals'] : paths)
  const reported: ReportedEvaluation[] = []
  for (const suite of suites) reported.push(await runSuite(suite, options, output))
  return writeReports(options.out, reported, output)
}

async function runSuite(
  suite: Suite,
  { out, baseline: given, update, only, shard, runs }: CommandOptions,
  { err, progress, signal }: CommandOutput,
): Promise<ReportedEvaluation> {
  const { file } = suite
  const options = { ...suite.options, ...(runs !== undefined && { runs }) }
  const { name } = options
  const yardstick = yardstickOf(options)
  const finished = join(out, `${name}.jsonl`)
  const partial = join(out, `${name}.partial.jsonl`)
  const own = join(dirname(file), `${name}.baseline.jsonl`)
  const baseline = given ?? (!update && (await exists(own)) ? own : undefined)

  const fingerprint = await fingerprintOf(suite, { only, shard, runs })
  const isContinued = (await readHeader(partial))?.fingerprint === fingerprint
  if (isContinued) {
    err(`${name}: continues an evaluation that did not end (${partial})\n`)
    // Ends a line that a crash has cut off.
    await writeFile(partial, '\n', { flag: 'a' })
  } else {
    await rm(partial, { force: true })
    await appendLine(partial, { v: 1, fingerprint, yardstick })
  }

  let count = 0
  const evaluation = await evaluate({
    ...options,
    cases: selected(options.cases, only, shard),
    done: isContinued ? readRecords(partial) : undefined,
    ...(baseline !== undefined && { baseline: readRecords(baseline) }),
    ...(signal && { signal }),
    onRun: async (record) => {
      await appendLine(partial, record)
      await options.onRun?.(record)
      progress?.(`${name}: ${++count} runs`)
    },
  })
  progress?.('')
  // An evaluation that its budget ended continues with the next run of the command.
  await (evaluation.ended === undefined ? rename : copyFile)(partial, finished)
  if (update) await writeBaseline(finished, own)
  return {
    evaluation,
    records: readRecords(finished),
    ...(baseline !== undefined && { baseline: readRecords(baseline) }),
  }
}

/** Cases of a part of the evaluation. */
async function* selected(
  cases: CaseSource,
  only: string | undefined,
  [part, all]: readonly [number, number],
): AsyncGenerator<EvaluationCase> {
  let at = 0
  for await (const each of cases) {
    const isWanted = only === undefined || each.id.includes(only) || each.tags?.includes(only)
    if (isWanted && at++ % all === part - 1) yield each
  }
}

/** Hash of all that can be known of an evaluation: if it differs, finished runs are not continued. */
async function fingerprintOf(
  { file, options }: Suite,
  command: Pick<CommandOptions, 'only' | 'shard' | 'runs'>,
): Promise<string> {
  const { agent } = options
  const source = await readFile(file, 'utf8')
  const known =
    typeof agent === 'function'
      ? 'made for each run'
      : {
          instructions: agent.instructions,
          model: agent.client.fingerprint ?? agent.client.model,
          options: agent.options,
          tools: agent.tools.map((tool) =>
            tool.type === 'function' ? [tool.name, tool.description, tool.jsonSchema] : tool,
          ),
          middleware: namesOf(agent.middleware),
        }
  return sha256(
    canonicalJson(jsonCopy({ yardstick: yardstickOf(options), source, known, command })),
  )
}

function namesOf(middleware: MiddlewareInput): string[] {
  return 'process' in middleware ? [middleware.name] : middleware.flatMap(namesOf)
}

/** Writes runs without their recordings. */
async function writeBaseline(runs: string, path: string): Promise<void> {
  const lines: string[] = []
  for await (const { recording: _recording, ...record } of readRecords(runs))
    lines.push(`${JSON.stringify(record satisfies RunRecord)}\n`)
  await writeFile(path, lines.join(''))
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
