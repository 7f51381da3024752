import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DurableEngine } from '../steps/durable-engine.ts'
import type { Asked } from './person.test-helper.ts'
import { askPerson, linesOf } from './person.test-helper.ts'

/** A point at which a process died, a step that was entered or kept, or the end of a run. */
export interface GateLine {
  readonly workflow: string
  readonly kind: 'died' | 'entered' | 'kept' | 'ended'
  /** Point or step. A step has its name and how often that came. */
  readonly what: string
}

/**
 * Kills its process once at each point of each run: before the effect of a step, between the effect and its record,
 * around a wait for answers, and before the end. It waits until every run that has not ended stands at such a point or
 * waits for a person, so that all of them share a death, and a step that nothing holds is over by then.
 */
export class KillGate {
  readonly #folder: string
  readonly #runs: number
  readonly #died = new Set<string>()
  readonly #ended = new Set<string>()
  readonly #asked = new Set<string>()
  readonly #answered = new Set<string>()
  readonly #standing = new Map<string, Set<string>>()
  readonly #waiting = new Map<string, readonly string[]>()

  constructor(folder: string, runs: number) {
    this.#folder = folder
    this.#runs = runs
    for (const { workflow, kind, what } of gateLinesIn(folder)) {
      if (kind === 'died') this.#died.add(`${workflow} ${what}`)
      if (kind === 'ended') this.#ended.add(workflow)
    }
    for (const { id } of linesOf(folder, 'asked') as readonly Asked[]) this.#asked.add(id)
    for (const { id } of linesOf(folder, 'answered') as readonly Asked[]) this.#answered.add(id)
  }

  /** Runs a workflow with an engine whose steps are points. */
  async run<Value>(
    workflow: string,
    engine: DurableEngine,
    work: (engine: DurableEngine) => Promise<Value>,
  ): Promise<Value> {
    try {
      const value = await work(this.#around(workflow, engine))
      await this.#stand(workflow, 'end')
      return value
    } finally {
      this.#ended.add(workflow)
      this.#write(workflow, 'ended', '')
      this.#look()
    }
  }

  /** Something that happens outside, with points before and after. */
  async effect<Value>(workflow: string, what: string, work: () => Promise<Value>): Promise<Value> {
    await this.#stand(workflow, `before ${what}`)
    this.#write(workflow, 'entered', what)
    const value = await work()
    await this.#stand(workflow, `after ${what}`)
    return value
  }

  /** Asks the person, who answers when the process is dead. */
  ask(asked: Asked): void {
    askPerson(this.#folder, asked)
    this.#asked.add(asked.id)
    this.#look()
  }

  #around(workflow: string, engine: DurableEngine): DurableEngine {
    const counts = new Map<string, number>()
    const numbered = (name: string): string => {
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      return `${name} #${count}`
    }
    return {
      ...engine,
      step: async (name, work) => {
        const step = numbered(name)
        const value = await engine.step(name, () => this.effect(workflow, step, work))
        this.#write(workflow, 'kept', step)
        return value
      },
      wait: async (requests) => {
        const wait = numbered('wait')
        await this.#stand(workflow, `before ${wait}`)
        this.#waiting.set(
          workflow,
          requests.map(({ id }) => id),
        )
        this.#look()
        const answers = await engine.wait!(requests)
        this.#waiting.delete(workflow)
        await this.#stand(workflow, `after ${wait}`)
        return answers
      },
    }
  }

  /** Waits for the death of the process, unless one has died here. */
  async #stand(workflow: string, point: string): Promise<void> {
    if (this.#died.has(`${workflow} ${point}`)) return
    const points = this.#standing.get(workflow) ?? new Set()
    this.#standing.set(workflow, points.add(point))
    this.#look()
    await new Promise(() => {})
  }

  #look(): void {
    const isAsked = (ids: readonly string[]): boolean =>
      ids.every((id) => this.#asked.has(id)) && !ids.every((id) => this.#answered.has(id))
    const waiting = [...this.#waiting].flatMap(([workflow, ids]) => (isAsked(ids) ? workflow : []))
    const still = new Set([...this.#standing.keys(), ...waiting])
    if (still.size === 0 || still.size + this.#ended.size < this.#runs) return
    for (const [workflow, points] of this.#standing)
      for (const point of points) this.#write(workflow, 'died', point)
    process.kill(process.pid, 'SIGKILL')
  }

  #write(workflow: string, kind: GateLine['kind'], what: string): void {
    const line: GateLine = { workflow, kind, what }
    appendFileSync(join(this.#folder, 'gate.jsonl'), `${JSON.stringify(line)}\n`)
  }
}

/** All that the gates of a folder have written, in order. */
export function gateLinesIn(folder: string): readonly GateLine[] {
  return linesOf(folder, 'gate') as readonly GateLine[]
}
