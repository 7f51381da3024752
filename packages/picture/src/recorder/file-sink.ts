import { appendFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { RecordedRun, RecordingSink } from './recorder-options.ts'

/** A sink that writes files. */
export interface FileSink extends RecordingSink {
  /** File of a run. */
  pathOf(run: RecordedRun): string
  /** File that was written last. */
  readonly latest: string | undefined
}

/**
 * Writes each outermost run to a separate file in a folder, which is created if it is missing.
 * Names begin with the time, such as `2026-11-22T15-18-29-120Z-helper-run_1.jsonl`. Only the owner
 * may read the files.
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { recorder } from '@lamella/picture'
 * import { filesIn } from '@lamella/picture/file'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const sink = filesIn('runs') // creates the folder with the first run
 * const record = recorder({ sink })
 * const client = scriptedClient(['Hi!'])
 * const agent = new Agent({ client, middleware: record.middleware() })
 * ```
 */
export function filesIn(folder: string): FileSink {
  return fileSink(({ at, agent, id }) => {
    const names = [at, agent, id].filter((name) => name !== undefined)
    const safe = names.map((name) => name.replaceAll(/[^\w-]/g, '-').slice(0, 80))
    return join(folder, `${safe.join('-')}.jsonl`)
  })
}

/** Appends all runs to one file. Only the owner may read it. */
export function toFile(path: string): FileSink {
  return fileSink(() => path)
}

function fileSink(pathOf: (run: RecordedRun) => string): FileSink {
  let latest: string | undefined
  return {
    pathOf,
    get latest() {
      return latest
    },
    async write(lines, run) {
      const path = pathOf(run)
      if (path !== latest) await mkdir(dirname(path), { recursive: true })
      latest = path
      await appendFile(path, lines, { mode: 0o600 })
    },
  }
}
