import { parseArgs } from 'node:util'
import type { CommandOutput } from './command-options.ts'
import { runSuites } from './run-suites.ts'
import { reportRuns } from './report-runs.ts'

const help = `lamella-evals [<file or folder>...]           runs evaluations: files that end in .eval.ts, .eval.js or .eval.mjs
lamella-evals report <runs.jsonl>...          draws the report of runs, such as those of several shards

  --out <folder>       folder of the runs and the report (by default .lamella-evals)
  --baseline <file>    runs to compare with (by default <name>.baseline.jsonl beside the evaluation)
  --update             writes the runs as the new baseline
  --only <text>        runs cases whose id contains the text, or that have it as a tag
  --shard <n>/<all>    runs the n-th of all parts of the cases
  --runs <n>           runs of each case, instead of the evaluation's own
  --help               shows this help

Exit codes: 0 if all have passed or are undecided, 1 if one has failed or is worse, 2 if the command is wrong.
A run of the command that was ended continues with the next one.
`

/** Runs the command; resolves to its exit code. */
export async function runCommand(args: readonly string[], output: CommandOutput): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        out: { type: 'string', default: '.lamella-evals' },
        baseline: { type: 'string' },
        update: { type: 'boolean', default: false },
        only: { type: 'string' },
        shard: { type: 'string' },
        runs: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) {
      output.out(help)
      return 0
    }
    const { out, baseline, update, only } = values
    const shard = shardOf(values.shard)
    const options = { out, baseline, update, only, shard, runs: countOf(values.runs) }
    const [first, ...rest] = positionals
    if (first === 'report') return await reportRuns(rest, options, output)
    return await runSuites(positionals, options, output)
  } catch (error) {
    output.err(`lamella-evals: ${error instanceof Error ? error.message : String(error)}\n`)
    return 2
  }
}

function shardOf(given = '1/1'): readonly [number, number] {
  const [, part, all] = /^(\d{1,6})\/(\d{1,6})$/.exec(given) ?? []
  const shard = [Number(part), Number(all)] as const
  if (!(shard[0] >= 1 && shard[0] <= shard[1]))
    throw new RangeError(`--shard: expected a part and their number such as 1/4, got "${given}"`)
  return shard
}

function countOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const count = Number(given)
  if (!Number.isInteger(count) || count < 1)
    throw new RangeError(`--runs: expected a whole number from 1 up, got "${given}"`)
  return count
}
