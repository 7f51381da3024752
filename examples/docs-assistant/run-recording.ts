import { writeFile } from 'node:fs/promises'
import type { Recorder } from '@lamella/picture'
import { pictureOf, recorder } from '@lamella/picture'

/** Records all runs of this program in memory, and draws them on request. */
export class RunRecording {
  readonly recorder: Recorder<'agent'>
  #lines = ''

  constructor() {
    const write = (lines: string): void => void (this.#lines += lines)
    this.recorder = recorder({ sink: { write }, capture: 'full' })
  }

  /** Writes a page with all runs so far. */
  async draw(page: string): Promise<void> {
    await this.recorder.flush()
    await writeFile(page, pictureOf(this.#lines), { mode: 0o600 })
  }
}
