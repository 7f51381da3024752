import type { PendingRequest } from '@lamella/core'
import { jsonCopy } from '@lamella/core/authoring'
import type { Answers, DurableEngine } from '../steps/durable-engine.ts'
import { workflowChanged } from '../steps/stored-call.ts'

/** Options of one pass. */
export interface PassOptions {
  /** The process is killed when the workflow has come this far: before, in and after a step. @default never */
  readonly killAt?: number | undefined
  /** Tries of a step that fails. @default 1 */
  readonly tries?: number | undefined
  /** Answers requests of a paused run. @default the run ends as paused */
  readonly answer?: ((requests: readonly PendingRequest[]) => Answers) | undefined
}

/** A workflow of an engine in memory, which numbers its steps as they begin and stores them as JSON. */
export class FakeWorkflow {
  readonly id: string
  /** Stored steps, by number. */
  readonly steps: ({ readonly name: string; readonly json: string } | undefined)[] = []
  /** How far the last pass has come. */
  at = 0
  constructor(id = 'workflow-1') {
    this.id = id
  }

  /** Runs the workflow's function once. Resolves to its value, or to `killed`. */
  pass<Value>(
    workflow: (engine: DurableEngine, alive: () => Promise<void>) => Promise<Value>,
    { killAt = Infinity, tries = 1, answer }: PassOptions = {},
  ): Promise<Value | 'killed'> {
    let kill!: (value: 'killed') => void
    const killed = new Promise<'killed'>((resolve) => void (kill = resolve))
    let at = 0
    let begun = 0
    let isDead = false
    // A process that is dead does nothing more.
    const alive = (): Promise<void> => (isDead ? new Promise(() => {}) : Promise.resolve())
    const come = (): Promise<void> => {
      if (!isDead) this.at = ++at
      if (at === killAt) {
        isDead = true
        kill('killed')
      }
      return alive()
    }
    const step: DurableEngine['step'] = async (name, work) => {
      const number = begun++
      await come()
      const known = this.steps[number]
      if (known !== undefined && known.name !== name)
        throw workflowChanged(`step ${number} is "${known.name}" and not "${name}"`)
      if (known === undefined) {
        const value = await retried(work, tries)
        await come()
        this.steps[number] = { name, json: JSON.stringify(jsonCopy({ value })) }
      }
      await come()
      return (JSON.parse(this.steps[number]!.json) as { value: never }).value
    }
    const wait =
      answer &&
      (async (requests: readonly PendingRequest[]) => {
        const answers = requests.map((request) =>
          step(`wait ${request.id}`, async () => answer([request])),
        )
        return Object.assign({}, ...(await Promise.all(answers))) as Answers
      })
    return Promise.race([killed, workflow({ id: this.id, step, wait }, alive)])
  }
}

async function retried<Value>(work: () => Promise<Value>, tries: number): Promise<Value> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt >= tries) throw error
    }
  }
}
