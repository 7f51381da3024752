import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KeyValueStore } from '@lamella/core'
import { sqliteStore } from '@lamella/store-sqlite'
import { linesOf } from './person.test-helper.ts'
import type { World } from './random-run.test-helper.ts'

/** A line of what has happened, in a file that outlives the process. */
export interface Line {
  readonly workflow: string
  readonly what: string
  readonly kind: 'happens' | 'answered' | 'pay' | 'done'
  readonly amount?: number
}

/** A world in a folder. The process kills itself at a random event, once it has made so many. */
export class FileWorld {
  readonly #file: string
  /** Store that all processes share. */
  readonly store: KeyValueStore
  #left: number

  constructor(folder: string, killAfter = Infinity) {
    this.#file = join(folder, 'happened.jsonl')
    this.store = sqliteStore(join(folder, 'store.db'))
    this.#left = killAfter
  }

  /** The world as one workflow sees it. */
  of(workflow: string): World {
    const write = (line: Omit<Line, 'workflow'>): void => this.write({ workflow, ...line })
    return {
      store: this.store,
      isDown: () => Math.random() < 0.3,
      happens: async (what) => {
        write({ kind: 'happens', what })
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
        if (--this.#left <= 0) process.kill(process.pid, 'SIGKILL')
      },
      answered: (what) => write({ kind: 'answered', what }),
      pay: (what, amount) => write({ kind: 'pay', what, amount }),
    }
  }

  write(line: Line): void {
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`)
  }
}

/** All that has happened in a folder, in order. */
export function happenedIn(folder: string): readonly Line[] {
  return linesOf(folder, 'happened') as readonly Line[]
}
