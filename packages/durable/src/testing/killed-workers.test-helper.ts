import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Usage } from '@lamella/core'
import { expect } from 'vitest'
import { storedUpdates } from '../updates/stored-updates.ts'
import { FileWorld, happenedIn } from './file-world.test-helper.ts'
import { expectedOf, tokensOfCall } from './random-run.test-helper.ts'
import { readAsPage } from './read-as-page.test-helper.ts'

/** Orders for a worker. */
export interface WorkerOrders {
  readonly worker: number
  readonly folder: string
  /** Events after which the process kills itself. */
  readonly killAfter?: number | undefined
}

/** Value that a workflow has returned. */
export interface WorkflowAnswer {
  readonly text: string
  readonly runId: string
  readonly status: string
  readonly usage: Usage
}

/** Workflows of an engine, seen from outside of its workers. */
export interface TestedEngine {
  /** Begins a workflow for each seed. Resolves to their ids. */
  begin(seeds: readonly number[]): Promise<readonly string[]>
  /** Answers the requests that wait, as a person does. */
  answerRequests(workflows: readonly string[]): Promise<void>
  /** Resolves to what a workflow returns. */
  answer(workflow: string): Promise<WorkflowAnswer>
}

/** Two processes with a program. One that has ended is started again. */
export class Workers {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'lamella-durable-'))
  readonly #program: string
  readonly #orders: object
  readonly #living = new Set<ChildProcess>()
  readonly #killAfter: () => number | undefined
  #isOver = false
  kills = 0

  constructor(program: string, orders: object, runs: number) {
    this.#program = program
    this.#orders = orders
    const kills = 12 + Math.floor(runs / 50)
    // Later ones live longer, so that the last runs meet kills too.
    this.#killAfter = () => (this.kills < kills ? 10 + Math.floor(Math.random() * runs) : undefined)
  }

  /** Starts the processes. */
  start(): void {
    for (const worker of [0, 1]) void this.#keep(worker)
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

  async #keep(worker: number): Promise<void> {
    while (!this.#isOver) {
      const killAfter = this.#killAfter()
      const orders = { ...this.#orders, worker, folder: this.folder, killAfter }
      const options = ['--conditions=@lamella/source', '--no-warnings']
      const args = [...options, this.#program, JSON.stringify(orders)]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
      this.#living.add(child)
      // oxlint-disable-next-line no-await-in-loop
      await once(child, 'exit')
      this.#living.delete(child)
      if (killAfter !== undefined) this.kills++
    }
  }
}

/**
 * Runs random agents in workers that are killed: none is lost, each effect happens once, and a page that reads along
 * has the answer. Returns the kills.
 */
export async function surviveKills(
  engine: TestedEngine,
  workers: Workers,
  runs: number,
): Promise<number> {
  const seeds = Array.from({ length: runs }, (_, at) => at + 1)
  workers.start()
  const workflows = await engine.begin(seeds)
  const updates = storedUpdates(new FileWorld(workers.folder).store)
  const pages = workflows.slice(0, 10).map((workflow) => readAsPage(updates, workflow))
  const over = new AbortController()
  const person = (async () => {
    while (!over.signal.aborted) {
      await engine.answerRequests(workflows)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })()
  const answers: WorkflowAnswer[] = []
  for (const workflow of workflows) answers.push(await engine.answer(workflow))
  over.abort()
  await person

  for (const [at, page] of pages.entries()) {
    const { text } = answers[at]!
    expect(await page).toEqual({ text, ended: text })
  }
  const happened = happenedIn(workers.folder)
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
  return workers.kills
}

/** Model calls that were made again after something had followed them, so that their step was stored. */
function repeatedAnswers(lines: ReturnType<typeof happenedIn>): readonly string[] {
  const calls = lines.filter(({ kind }) => kind === 'answered').map(({ what }) => what)
  return calls.filter((what, at) => calls[at - 1] !== what && calls.indexOf(what) < at)
}
