import type { Line } from '../src/lines/line.ts'
import { readLines } from '../src/lines/read-lines.ts'

const drawEveryMs = 250

/** Follows a file that is being written. Lines that come together are told together. */
export function followLines(
  address: string,
  onLines: (lines: readonly Line[], unreadable: number) => void,
): void {
  let waiting: string[] = []
  const source = new EventSource(address)
  source.addEventListener('message', ({ data }: MessageEvent<string>) => {
    if (waiting.length === 0) {
      setTimeout(() => {
        const { lines, unreadable } = readLines(waiting.join('\n'))
        waiting = []
        onLines(lines, unreadable)
      }, drawEveryMs)
    }
    waiting.push(data)
  })
  // The file began anew.
  source.addEventListener('reset', () => location.reload())
}
