import type { RunContext } from '@lamella/core'
import { perRun } from '@lamella/core/authoring'
import { Turns } from './turns.ts'

/** Place of a run in its workflow. */
export class Place {
  /** Calls around the run, as its steps name them. Empty for a run that no tool started. */
  path = ''
  /** True if the run is part of a step already. */
  isInStep = false
  readonly turns: Turns = new Turns()
  #isOpen = false
  #steps = 0
  #inside: string | undefined

  /** Begins inside of the place of another run. */
  open(outer: Place | undefined): this {
    if (!this.#isOpen && outer !== undefined) {
      this.isInStep = outer.isInStep || outer.#steps > 0
      this.path = outer.#inside ?? outer.path
    }
    this.#isOpen = true
    return this
  }

  /** Runs inside of which begin while `work` runs are part of its step. */
  readonly inStep = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    this.#steps++
    try {
      return await work()
    } finally {
      this.#steps--
    }
  }

  /** Runs inside of which begin while `work` runs have steps of their own. */
  readonly enter = async <Value>(path: string, work: () => Promise<Value>): Promise<Value> => {
    this.#inside = path
    try {
      return await work()
    } finally {
      this.#inside = undefined
    }
  }
}

/** Makes the function that returns the place of a run. */
export function places(): (run: RunContext) => Place {
  const placeOf = perRun(() => new Place())
  const find = (run: RunContext): Place =>
    placeOf(run).open(run.parent === undefined ? undefined : find(run.parent))
  return find
}
