import { conclude } from '../evaluation/conclude.ts'
import { Tally } from '../evaluation/tally.ts'
import type { RunRecord } from '../runs/run-record.ts'
import type { CommandOptions, CommandOutput } from './command-options.ts'
import { readHeader, readRecords } from './record-file.ts'
import { writeReports } from './write-reports.ts'

/** Draws the conclusion from files of runs, such as those of several shards; resolves to the exit code. */
export async function reportRuns(
  files: readonly string[],
  { out, baseline }: CommandOptions,
  output: CommandOutput,
): Promise<number> {
  const byName = new Map<string, string[]>()
  for (const file of files) {
    const header = await readHeader(file)
    if (header === undefined)
      throw new Error(`${file}: there is no such file, or it has no runs of an evaluation`)
    const { name } = header.yardstick
    byName.set(name, [...(byName.get(name) ?? []), file])
  }
  if (byName.size === 0) throw new Error('report needs files of runs')
  const reported = []
  for (const parts of byName.values()) {
    const { yardstick } = (await readHeader(parts[0]!))!
    const tally = await Tally.of(readAll(parts))
    const before = baseline === undefined ? undefined : await Tally.of(readRecords(baseline))
    reported.push({
      evaluation: conclude(yardstick, tally, before),
      records: readAll(parts),
      ...(baseline !== undefined && { baseline: readRecords(baseline) }),
    })
  }
  return writeReports(out, reported, output)
}

async function* readAll(files: readonly string[]): AsyncGenerator<RunRecord> {
  for (const file of files) yield* readRecords(file)
}
