/** JSON as a text to look through: keys and values without quotes and escapes, a value on each line. */
export interface JsonText {
  readonly text: string
  /** The stretch of the JSON that a stretch of the text stands for. */
  toSpan(start: number, end: number): JsonSpan
}

export interface JsonSpan {
  readonly start: number
  readonly end: number
  /** Whether it is all of a number, so that what takes its place must become a string. */
  readonly isNumber: boolean
}

// An end of text in the place of a quote cannot be in JSON. With it a match never fails and goes back.
const scalar = /"(?:[^"\\]|\\[^]?)*(?:"|$)|-?\d[\d.eE+-]*/g
const escape = /\\(?:u[\da-fA-F]{4}|.)/g

interface Piece {
  /** Where it stands in the text. */
  readonly start: number
  readonly end: number
  /** Where its characters stand in the JSON, in steps: from this index of the text on, add so much. */
  readonly steps: readonly (readonly [from: number, shift: number])[]
  readonly number?: { readonly start: number; readonly end: number }
}

/** Reads JSON, or gives nothing for what is no object and no list. */
export function readJson(json: string): JsonText | undefined {
  if (!/^\s*[{[]/.test(json) || !isJson(json)) return undefined
  const pieces: Piece[] = []
  let text = ''
  for (const { index, 0: literal } of json.matchAll(scalar)) {
    const start = text.length
    if (literal.startsWith('"')) {
      const steps: [number, number][] = [[start, index + 1 - start]]
      text += literal.slice(1, -1).replace(escape, (sequence, at: number) => {
        const value = JSON.parse(`"${sequence}"`) as string
        const last = steps.at(-1)!
        const here = index + 1 + at - last[1]
        steps.push([here + value.length, last[1] + sequence.length - value.length])
        return value
      })
      const isKey = /^\s*:/.test(json.slice(index + literal.length, index + literal.length + 9))
      pieces.push({ start, end: text.length, steps })
      text += isKey ? ': ' : '\n'
    } else {
      text += literal
      const number = { start: index, end: index + literal.length }
      pieces.push({ start, end: text.length, steps: [[start, index - start]], number })
      text += '\n'
    }
  }

  return {
    text,
    toSpan(start, end) {
      const piece = pieceAt(pieces, start)
      if (piece.number) return { ...piece.number, isNumber: true }
      const last = Math.min(end, piece.end)
      return { start: indexIn(piece, start), end: indexIn(piece, last), isNumber: false }
    },
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function pieceAt(pieces: readonly Piece[], index: number): Piece {
  let [low, high] = [0, pieces.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (pieces[middle]!.start <= index) low = middle
    else high = middle - 1
  }
  return pieces[low]!
}

function indexIn({ steps }: Piece, index: number): number {
  return index + steps.findLast(([from]) => from <= index)![1]
}
