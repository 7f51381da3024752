import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A request that a run waits with, and its answer. */
export interface Asked {
  readonly workflow: string
  /** Id of the request. */
  readonly id: string
  /** Id by which the engine takes the answer, if it has one of its own. */
  readonly address?: string | undefined
  readonly answer: unknown
}

/** Asks the person of a folder. */
export function askPerson(folder: string, asked: Asked): void {
  appendFileSync(join(folder, 'asked.jsonl'), `${JSON.stringify(asked)}\n`)
}

/** A person who answers what the processes of a folder ask, each request once. */
export class Person {
  readonly #folder: string
  readonly #tell: (asked: Asked) => Promise<void>
  readonly #told = new Set<string>()

  constructor(folder: string, tell: (asked: Asked) => Promise<void>) {
    this.#folder = folder
    this.#tell = tell
  }

  /** Answers all that was asked until now. */
  async answer(): Promise<void> {
    const open = (linesOf(this.#folder, 'asked') as readonly Asked[]).filter(
      ({ id }) => !this.#told.has(id),
    )
    const once = new Map(open.map((asked) => [asked.id, asked]))
    await Promise.all([...once.values()].map(this.#tell))
    for (const asked of once.values()) {
      this.#told.add(asked.id)
      appendFileSync(join(this.#folder, 'answered.jsonl'), `${JSON.stringify(asked)}\n`)
    }
  }
}

/** Lines of JSON in a file that other processes write. */
export function linesOf(folder: string, name: string): readonly unknown[] {
  const file = join(folder, `${name}.jsonl`)
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as unknown)
}
