import { JsonProgress } from './json-progress.ts'

/**
 * The JSON of one call's arguments while it arrives. Servers send an empty object in front of or
 * behind the arguments, and the whole of them once more. Neither belongs to them. Anything else
 * stays as it came, for the reader of the call to refuse.
 */
export class ArrivingArguments {
  /** `blank` and `open` are the states before and inside what may turn out to be an empty object. */
  #state: 'blank' | 'open' | 'empty' | 'value' | 'complete' = 'blank'
  /** Text that cannot be told yet. */
  #held = ''
  #told = ''
  #progress = new JsonProgress()
  #isBracketed = false

  /** False until there is more than white space. */
  get hasBegun(): boolean {
    return this.#state !== 'blank'
  }

  /** True for an object without fields, and nothing behind it. */
  get isEmptyObject(): boolean {
    return this.#state === 'empty'
  }

  /** True behind the end of a value that is not an empty object. */
  get isComplete(): boolean {
    return this.#state === 'complete'
  }

  /** True within a JSON value that has begun and not ended. */
  get isOpen(): boolean {
    return this.#state === 'open' || (this.#state === 'value' && this.#isBracketed)
  }

  /** The arguments as they have been told. */
  get text(): string {
    return this.#told
  }

  /** Takes in a piece, and returns the part of the arguments that is certain now. */
  add(piece: string): string {
    if (this.#state === 'value') return this.#tell(piece)
    if (this.#state === 'complete') {
      this.#held += piece
      return ''
    }
    let start = 0
    for (let at = 0; at < piece.length; at++) {
      const char = piece[at]!
      if (isSpace(char)) continue
      if (this.#state !== 'open') {
        // An empty object in front of more is no part of the arguments.
        this.#held = ''
        start = at
        if (char !== '{') return this.#begin(piece.slice(at))
        this.#state = 'open'
      } else if (char === '}') this.#state = 'empty'
      else return this.#begin(this.#held + piece.slice(start))
    }
    this.#held += piece.slice(start)
    return ''
  }

  /** Takes in the whole arguments, and returns what the pieces before did not have of them. */
  addWhole(whole: string): string {
    const text = whole.trimStart()
    if (text === '') return ''
    if (this.#told === '') {
      this.#held = ''
      this.#state = 'blank'
      return this.add(text)
    }
    if (!text.startsWith(this.#told)) return ''
    if (this.#state === 'complete') this.#held = ''
    return this.add(text.slice(this.#told.length))
  }

  /** Returns what was held back at the end of the arguments, without repetitions of them. */
  end(): string {
    const rest = this.#held.trim()
    this.#held = ''
    if (rest === '' || (this.#state === 'complete' && repeats(rest, this.#told))) return ''
    this.#told += rest
    return rest
  }

  #begin(text: string): string {
    this.#held = ''
    this.#state = 'value'
    this.#isBracketed = text.startsWith('{') || text.startsWith('[')
    return this.#tell(text)
  }

  #tell(text: string): string {
    const end = this.#isBracketed ? this.#progress.add(text) : -1
    const known = end === -1 ? text : text.slice(0, end)
    if (end !== -1) {
      this.#state = 'complete'
      this.#held = text.slice(end)
    }
    this.#told += known
    return known
  }
}

/** Returns true for JSON values that are empty objects or the same as `known`. */
function repeats(text: string, known: string): boolean {
  const same = plain(known)
  let rest = text
  while (rest !== '') {
    const end = /^[{[]/.test(rest) ? new JsonProgress().add(rest) : -1
    if (end === -1) return false
    const value = plain(rest.slice(0, end))
    if (value !== '{}' && value !== same) return false
    rest = rest.slice(end).trimStart()
  }
  return true
}

/** Arguments in one spelling, so that equal ones are equal texts. */
export function plain(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text.trim() || '{}'))
  } catch {
    return text
  }
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\n' || char === '\r' || char === '\t'
}
