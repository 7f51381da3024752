import type { Agent, ChatClient } from '@lamella/core'
import { isObject, wrongOption } from '@lamella/core/authoring'
import type { EvaluationCase } from '../cases/evaluation-case.ts'
import { copyAgent } from '../runs/copy-agent.ts'
import type { RunRecord } from '../runs/run-record.ts'
import type { EvaluateOptions } from './evaluate.ts'
import { evaluate } from './evaluate.ts'
import type { Evaluation } from './evaluation.ts'
import { aligned, plain } from './table-of.ts'

/** Options of {@link compareClients}. */
export interface CompareClientsOptions
  extends Omit<EvaluateOptions, 'baseline' | 'done' | 'onRun'> {
  /** Clients by name. The first one is the baseline of the others. */
  readonly clients: Readonly<Record<string, ChatClient>>
}

/** Evaluations of the same cases with several clients. */
export interface ClientComparison {
  /** Evaluations by the name of the client. */
  readonly evaluations: Readonly<Record<string, Evaluation>>
  /** Draws one table with quality, cost and time. */
  toString(): string
}

/**
 * Evaluates the same cases with each client in place of the agent's, one client after another.
 * @throws TypeError or RangeError that names the option and the value
 */
export async function compareClients({
  clients,
  ...options
}: CompareClientsOptions): Promise<ClientComparison> {
  if (!isObject(clients) || Object.keys(clients).length === 0)
    throw wrongOption('compareClients', 'clients', 'an object of clients by name', clients)
  const { name = 'evaluation', agent, scores = [] } = options
  const cases: EvaluationCase[] = []
  for await (const each of options.cases) cases.push(each)
  const evaluations: [string, Evaluation][] = []
  let baseline: RunRecord[] | undefined
  for (const [clientName, client] of Object.entries(clients)) {
    const records: RunRecord[] = []
    const swapped = async (...job: Parameters<Exclude<EvaluateOptions['agent'], Agent>>) =>
      copyAgent(typeof agent === 'function' ? await agent(...job) : agent, { client })
    const evaluation = await evaluate({
      ...options,
      name: `${name} with ${clientName}`,
      agent: swapped,
      cases,
      recordings: 'none',
      ...(baseline === undefined
        ? { onRun: (record: RunRecord) => void records.push({ ...record, input: '', output: '' }) }
        : { baseline }),
    })
    baseline ??= records
    evaluations.push([clientName, evaluation])
  }
  const header = ['client', 'verdict', 'failed', ...scores.map((each) => each.name)]
  const rows = evaluations.map(([clientName, each]) => [
    clientName,
    each.verdict,
    `${each.cases.filter(({ failed }) => failed > 0).length} of ${each.cases.length}`,
    ...each.scores.map(({ mean, low, high, runs }) =>
      runs === 0 ? '' : `${mean.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`,
    ),
    each.costUsd === undefined ? 'unknown' : each.costUsd.toPrecision(3),
    String(Math.round(each.latencyMs.median)),
  ])
  const table = plain(aligned([[...header, 'US dollars', 'median ms'], ...rows]).join('\n'))
  return { evaluations: Object.fromEntries(evaluations), toString: () => table }
}
