import type { RunRecord, RunRecords } from '../runs/run-record.ts'
import { failuresOf } from '../runs/run-record.ts'
import { meanOf } from '../statistics/score-interval.ts'
import type { CaseSummary, CheckSummary } from './evaluation.ts'

/** Runs of a case, as numbers. */
interface CaseTally {
  readonly digest: string
  readonly runs: Set<number>
  failed: number
  readonly failures: Set<string>
  readonly scores: Map<string, number[]>
}

/** Sums finished runs up. It keeps numbers of each run, and no text but a few reasons of failures. */
export class Tally {
  readonly #cases = new Map<string, CaseTally>()
  readonly #checks = new Map<string, { runs: number; failed: number }>()
  readonly latencies: number[] = []
  runs = 0
  failedRuns = 0
  /** Runs that threw, or of which a check or a score threw. */
  errors = 0
  tokens = 0
  costUsd: number | undefined

  static async of(records: RunRecords): Promise<Tally> {
    const tally = new Tally()
    for await (const record of records) tally.add(record)
    return tally
  }

  /** Keeps the place of a case among the others, in the order of these calls. */
  expect(id: string, digest: string): void {
    this.#caseOf(id, digest)
  }

  add(record: RunRecord): void {
    const tally = this.#caseOf(record.case, record.digest)
    if (tally.digest !== record.digest || tally.runs.has(record.run)) return
    tally.runs.add(record.run)
    const failures = failuresOf(record)
    if (failures.length > 0) {
      tally.failed++
      this.failedRuns++
      for (const failure of failures)
        if (tally.failures.size < mostFailures) tally.failures.add(failure)
    }
    for (const [name, score] of Object.entries(record.scores)) {
      const scores = tally.scores.get(name)
      if (scores === undefined) tally.scores.set(name, [score])
      else scores.push(score)
    }
    for (const [name, reason] of Object.entries(record.checks)) {
      const check = this.#checks.get(name) ?? { runs: 0, failed: 0 }
      this.#checks.set(name, check)
      check.runs++
      if (reason !== null) check.failed++
    }
    this.runs++
    if (record.error !== undefined) this.errors++
    this.tokens += record.tokens
    this.latencies.push(record.elapsedMs)
    if (record.costUsd !== undefined) this.costUsd = (this.costUsd ?? 0) + record.costUsd
  }

  /** Tells if this run of the case was added already. */
  has(id: string, run: number): boolean {
    return this.#cases.get(id)?.runs.has(run) === true
  }

  /** Ids of the cases, in order. */
  get ids(): readonly string[] {
    return [...this.#cases.keys()]
  }

  /** Returns the scores of the runs of a case; none if it has another digest than `other` has for it. */
  scoresOf(id: string, name: string, other?: Tally): readonly number[] {
    const tally = this.#cases.get(id)
    const wanted = other === undefined ? tally : other.#cases.get(id)
    const isSame = tally?.digest === wanted?.digest
    return (isSame ? tally?.scores.get(name) : undefined) ?? []
  }

  checkSummary(name: string): CheckSummary {
    return { name, ...(this.#checks.get(name) ?? { runs: 0, failed: 0 }) }
  }

  caseSummary(id: string, baseline: Tally | undefined): CaseSummary {
    const { digest, runs, failed, failures, scores } = this.#cases.get(id)!
    const before = baseline === undefined ? undefined : baseline.#cases.get(id)
    return {
      id,
      runs: runs.size,
      failed,
      failures: [...failures],
      scores: meansOf(scores),
      before:
        before === undefined || before.digest !== digest
          ? undefined
          : {
              failed: before.failed,
              failures: [...before.failures],
              scores: meansOf(before.scores),
            },
    }
  }

  #caseOf(id: string, digest: string): CaseTally {
    const known = this.#cases.get(id)
    if (known !== undefined) return known
    const tally = { digest, runs: new Set<number>(), failed: 0, failures: new Set<string>() }
    const made = { ...tally, scores: new Map<string, number[]>() }
    this.#cases.set(id, made)
    return made
  }
}

function meansOf(scores: ReadonlyMap<string, readonly number[]>): Readonly<Record<string, number>> {
  return Object.fromEntries([...scores].map(([name, values]) => [name, meanOf(values)]))
}

const mostFailures = 5
