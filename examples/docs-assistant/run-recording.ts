import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Recorder } from '@lamella/picture'
import { pictureOf, recorder } from '@lamella/picture'
import { toFile } from '@lamella/picture/file'

/** Records all runs of this program, and draws them at its end. */
export class RunRecording {
  readonly recorder: Recorder<'agent'>
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
    this.recorder = recorder({ sink: toFile(join(folder, 'runs.jsonl')), capture: 'full' })
  }

  /** Creates a recording in a new temporary folder. */
  static async start(): Promise<RunRecording> {
    return new RunRecording(await mkdtemp(join(tmpdir(), 'lamella-')))
  }

  /** Writes the page, and resolves to its path; to undefined if nothing ran. */
  async draw(): Promise<string | undefined> {
    await this.recorder.flush()
    const recording = await readFile(join(this.#folder, 'runs.jsonl'), 'utf8').catch(() => '')
    if (recording === '') return undefined
    const page = join(this.#folder, 'runs.html')
    await writeFile(page, pictureOf(recording), { mode: 0o600 })
    return page
  }
}
