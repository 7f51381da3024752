/** JSON as a text to look through: keys and values without quotes and escapes, a value on each line. */
export interface JsonText {
  readonly text: string
  /**
   * The stretches of the JSON that a stretch of the text stands for, one in each value: a key may be
   * a list of lines. It does not go on over the name of a field.
   */
  toSpans(start: number, end: number): readonly JsonSpan[]
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

interface Step {
  readonly start: number
  readonly shift: number
}

interface Piece {
  /** Where it stands in the text. */
  readonly start: number
  readonly end: number
  /** Where its characters stand in the JSON: from `start` on, add `shift`. */
  readonly steps: readonly Step[]
  readonly isKey: boolean
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
      const steps: Step[] = [{ start, shift: index + 1 - start }]
      text += literal.slice(1, -1).replace(escape, (sequence, at: number) => {
        const value = JSON.parse(`"${sequence}"`) as string
        const { shift } = steps.at(-1)!
        const here = index + 1 + at - shift + value.length
        steps.push({ start: here, shift: shift + sequence.length - value.length })
        return value
      })
      const isKey = /^\s*:/.test(json.slice(index + literal.length, index + literal.length + 9))
      pieces.push({ start, end: text.length, steps, isKey })
      text += isKey ? ': ' : '\n'
    } else {
      text += literal
      const number = { start: index, end: index + literal.length }
      pieces.push({ start, end: text.length, steps: [], isKey: false, number })
      text += '\n'
    }
  }

  return {
    text,
    toSpans(start, end) {
      const first = lastUpTo(pieces, start)
      const rest = pieces.slice(first + 1)
      const until = rest.findIndex((piece) => piece.isKey || piece.start >= end)
      return [pieces[first]!, ...rest.slice(0, until < 0 ? rest.length : until)].map((piece) => {
        if (piece.number) return { ...piece.number, isNumber: true }
        return {
          start: indexIn(piece, Math.max(start, piece.start)),
          end: indexIn(piece, Math.min(end, piece.end)),
          isNumber: false,
        }
      })
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

/** The index of the last entry that begins at an index of the text or before it. */
function lastUpTo(entries: readonly { readonly start: number }[], index: number): number {
  let [low, high] = [0, entries.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (entries[middle]!.start <= index) low = middle
    else high = middle - 1
  }
  return low
}

function indexIn({ steps }: Piece, index: number): number {
  return index + steps[lastUpTo(steps, index)]!.shift
}
