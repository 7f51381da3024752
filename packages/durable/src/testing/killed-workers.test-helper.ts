import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Usage } from '@lamella/core'
import { expect } from 'vitest'
import { storedUpdates } from '../updates/stored-updates.ts'
import { FileWorld, happenedIn } from './file-world.test-helper.ts'
import { gateLinesIn } from './kill-gate.test-helper.ts'
import type { Asked } from './person.test-helper.ts'
import { Person } from './person.test-helper.ts'
import { expectedOf, tokensOfCall } from './random-run.test-helper.ts'
import { readAsPage } from './read-as-page.test-helper.ts'

/** Orders for a worker. */
export interface WorkerOrders {
  readonly worker: number
  readonly folder: string
  /** Events after which the process kills itself. */
  readonly killAfter?: number | undefined
  /** Runs that a gate kills at every point. */
  readonly gatedRuns?: number | undefined
}

/** Value that a workflow has returned. */
export interface WorkflowAnswer {
  readonly text: string
  readonly runId: string
  readonly status: string
  readonly usage: Usage
}

/** An engine, seen from outside of its workers. */
export interface TestedEngine {
  /** Program of a worker, and what it needs to know. */
  readonly program: string
  readonly orders: object
  /** Begins a workflow for each seed. Resolves to their ids. */
  begin(seeds: readonly number[]): Promise<readonly string[]>
  /** Answers a request, as a person does. */
  readonly tell: (asked: Asked) => Promise<void>
  /** Resolves to what a workflow returns. */
  answer(workflow: string): Promise<WorkflowAnswer>
}

/** Processes with a program. One that has ended is started again. */
class Workers {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'lamella-durable-'))
  readonly #engine: TestedEngine
  readonly #living = new Set<ChildProcess>()
  #isOver = false

  constructor(engine: TestedEngine) {
    this.#engine = engine
  }

  /** Keeps a process alive. `orders` gives each its orders, and `died` comes before the next one. */
  async keep(
    worker: number,
    orders: () => Omit<WorkerOrders, 'worker' | 'folder'>,
    died: (given: Omit<WorkerOrders, 'worker' | 'folder'>) => Promise<void> | void,
  ): Promise<void> {
    const { program, orders: known } = this.#engine
    while (!this.#isOver) {
      const given = orders()
      const all = { ...known, ...given, worker, folder: this.folder }
      const options = ['--conditions=@lamella/source', '--no-warnings']
      const args = [...options, program, JSON.stringify(all)]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
      this.#living.add(child)
      // oxlint-disable-next-line no-await-in-loop
      await once(child, 'exit')
      this.#living.delete(child)
      // oxlint-disable-next-line no-await-in-loop
      await died(given)
    }
  }

  async close(): Promise<void> {
    this.#isOver = true
    const exits = [...this.#living].map((child) => {
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      return exit
    })
    await Promise.all(exits)
    rmSync(this.folder, { recursive: true })
  }
}

const seedsOf = (runs: number): readonly number[] => Array.from({ length: runs }, (_, at) => at + 1)

/**
 * Runs random agents in two workers that are killed at random: none is lost, each effect happens once, and a page that
 * reads along has the answer. Returns the kills.
 */
export async function surviveKills(engine: TestedEngine, runs: number): Promise<number> {
  const seeds = seedsOf(runs)
  const most = 12 + Math.floor(runs / 50)
  const workers = new Workers(engine)
  const { folder } = workers
  let kills = 0
  // Later ones live longer, so that the last runs meet kills too.
  const orders = (): Pick<WorkerOrders, 'killAfter'> => ({
    killAfter: kills < most ? 10 + Math.floor(Math.random() * runs) : undefined,
  })
  const died = ({ killAfter }: Pick<WorkerOrders, 'killAfter'>): void =>
    void (kills += killAfter === undefined ? 0 : 1)
  for (const worker of [0, 1]) void workers.keep(worker, orders, died)
  const over = new AbortController()
  try {
    const workflows = await engine.begin(seeds)
    const updates = storedUpdates(new FileWorld(folder).store)
    const pages = workflows.slice(0, 10).map((workflow) => readAsPage(updates, workflow))
    const person = new Person(folder, engine.tell)
    const answering = (async () => {
      while (!over.signal.aborted) {
        await person.answer()
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    })()
    const answers: WorkflowAnswer[] = []
    for (const workflow of workflows) answers.push(await engine.answer(workflow))
    over.abort()
    await answering

    for (const [at, page] of pages.entries()) {
      const { text } = answers[at]!
      expect(await page).toEqual({ text, ended: text })
    }
    expectRight({ seeds, workflows, answers, folder })
    return kills
  } finally {
    over.abort()
    await workers.close()
  }
}

/**
 * Runs random agents in a worker that is killed at every step of every run, before the step's effect and between the
 * effect and its record. Returns the kills.
 */
export async function surviveKillsAtEveryStep(engine: TestedEngine, runs: number): Promise<number> {
  const seeds = seedsOf(runs)
  const workers = new Workers(engine)
  const { folder } = workers
  const person = new Person(folder, engine.tell)
  let kills = 0
  const died = async (): Promise<void> => {
    kills++
    await person.answer()
  }
  void workers.keep(0, () => ({ gatedRuns: runs }), died)
  try {
    const workflows = await engine.begin(seeds)
    const answers: WorkflowAnswer[] = []
    for (const workflow of workflows) answers.push(await engine.answer(workflow))

    expectRight({ seeds, workflows, answers, folder })
    expectKilledAtEveryStep(workflows, folder)
    return kills
  } finally {
    await workers.close()
  }
}

/** Each step of each run was killed at both of its points, and none ran again once it was kept. */
function expectKilledAtEveryStep(workflows: readonly string[], folder: string): void {
  const lines = gateLinesIn(folder)
  const happened = happenedIn(folder)
  for (const workflow of workflows) {
    const own = lines.filter((line) => line.workflow === workflow)
    const of = (kind: string): readonly string[] =>
      own.flatMap((line) => (line.kind === kind ? line.what : []))
    const steps = new Set(of('kept'))
    const deaths = new Set(of('died'))
    // Every step was killed before its effect, and between its effect and its record.
    const points = [...steps].flatMap((step) => [`before ${step}`, `after ${step}`])
    expect(steps.size).toBeGreaterThan(2)
    expect([...points, 'end'].filter((point) => !deaths.has(point))).toEqual([])
    // None was entered once it was kept.
    const kept = new Set<string>()
    for (const { kind, what } of own) {
      if (kind === 'kept') kept.add(what)
      if (kind === 'entered')
        expect([workflow, what, kept.has(what)]).toEqual([workflow, what, false])
    }
    // An effect happens in its step only.
    const paid = happened.filter((line) => line.workflow === workflow && line.kind === 'pay')
    for (const key of new Set(paid.map(({ what }) => what))) {
      const calls = key.split('/').slice(1)
      const step = [...calls.slice(0, -1), `tool ${calls.at(-1)} #`].join('/')
      const entered = of('entered').filter((what) => what.startsWith(step))
      const times = paid.filter(({ what }) => what === key).length
      expect([key, times <= entered.length]).toEqual([key, true])
    }
    // The cache knows a call of the outer model that was lost between its effect and its record.
    const calls = happened.filter((line) => line.workflow === workflow && line.kind === 'answered')
    const outer = calls.flatMap(({ what }) => (what.startsWith('model') ? what : []))
    expect(outer).toHaveLength(new Set(outer).size)
  }
}

/** The end of random runs. */
interface EndedRuns {
  readonly seeds: readonly number[]
  readonly workflows: readonly string[]
  readonly answers: readonly WorkflowAnswer[]
  readonly folder: string
}

/** Each run has the right answer, and each effect happened once. */
function expectRight({ seeds, workflows, answers, folder }: EndedRuns): void {
  const happened = happenedIn(folder)
  // No pass came to another step than the one before.
  expect(existsSync(join(folder, 'problems.txt'))).toBe(false)
  for (const [at, seed] of seeds.entries()) {
    const workflow = workflows[at]!
    const { text, payments, tokens } = expectedOf(workflow, seed)
    const own = happened.filter((line) => line.workflow === workflow)
    const paid = own.flatMap(({ kind, what, amount }) => (kind === 'pay' ? [[what, amount!]] : []))
    expect(answers[at]).toMatchObject({ status: 'completed', text, runId: workflow })
    expect(Object.fromEntries(paid)).toEqual(payments)
    // A call that a kill has lost is answered by the cache.
    const lostCalls = (tokens - (answers[at]!.usage.totalTokens ?? 0)) / tokensOfCall
    expect(lostCalls >= 0 && Number.isInteger(lostCalls)).toBe(true)
    expect(repeatedAnswers(own)).toEqual([])
  }
}

/** Model calls that were made again after something had followed them, so that their step was stored. */
function repeatedAnswers(lines: ReturnType<typeof happenedIn>): readonly string[] {
  const calls = lines.filter(({ kind }) => kind === 'answered').map(({ what }) => what)
  return calls.filter((what, at) => calls[at - 1] !== what && calls.indexOf(what) < at)
}
