import { separators } from './separators.ts'

/** Text with its percent escapes decoded, and the place of each unit in the original. */
export interface PercentReading {
  readonly text: string
  readonly toOriginalSpan: (start: number, end: number) => { start: number; end: number }
}

const sign = /%[\da-f]{2}|[?&][^\s=&?]{1,40}=/i
const word = new RegExp(String.raw`[^\s${separators}]+`, 'g')
const part = /%[0-7][\da-f]|(?:%[89a-f][\da-f])+|(?<=[\p{L}\d])\+/giu
const utf8 = new TextDecoder()
const maxLevels = 3

/**
 * Reads a text with the percent escapes of URIs (RFC 3986, section 2.1) decoded, also if they are encoded
 * again, and with the `+` of queries as blanks. Returns `undefined` if that changes nothing.
 */
export function percentReading(text: string): PercentReading | undefined {
  if (!sign.test(text)) return undefined
  let read: Placed = { text }
  for (let level = 0; level < maxLevels; level++) {
    const next = decoded(read)
    if (next.text === read.text) break
    read = next
  }
  const { starts, ends } = read
  if (starts === undefined || ends === undefined) return undefined
  return {
    text: read.text,
    toOriginalSpan: (start, end) => ({ start: starts[start]!, end: ends[end - 1]! }),
  }
}

interface Placed {
  readonly text: string
  /** Places of the units, unless they are where they were. */
  readonly starts?: readonly number[]
  readonly ends?: readonly number[]
}

/** Decodes one level. */
function decoded(given: Placed): Placed {
  const { text } = given
  let made = ''
  let done = 0
  const starts: number[] = []
  const ends: number[] = []
  const startOf = (at: number): number => given.starts?.[at] ?? at
  const endOf = (at: number): number => given.ends?.[at] ?? at + 1
  const keepUpTo = (end: number): void => {
    made += text.slice(done, end)
    for (; done < end; done++) {
      starts.push(startOf(done))
      ends.push(endOf(done))
    }
  }
  for (const { 0: whole, index: from } of text.matchAll(word)) {
    if (!sign.test(whole)) continue
    for (const { 0: found, index } of whole.matchAll(part)) {
      const [start, end] = [from + index, from + index + found.length]
      const read = found === '+' ? ' ' : utf8.decode(bytesOf(found))
      keepUpTo(start)
      made += read
      for (let unit = 0; unit < read.length; unit++) {
        starts.push(startOf(start))
        ends.push(endOf(end - 1))
      }
      done = end
    }
  }
  if (done === 0) return given
  keepUpTo(text.length)
  return { text: made, starts, ends }
}

function bytesOf(escapes: string): Uint8Array {
  return Uint8Array.from(escapes.slice(1).split('%'), (hex) => Number.parseInt(hex, 16))
}
