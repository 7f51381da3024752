import { type AST, RegExpParser } from '@eslint-community/regexpp'

type Accepts = (char: string) => boolean
type Instruction =
  | { readonly do: 'char'; readonly accepts: Accepts; readonly isBackward: boolean }
  | { readonly do: 'jump'; to: number }
  /** Tries `to` first, and `or` when that fails. */
  | { readonly do: 'split'; to: number; or: number }
  | { readonly do: 'at'; readonly holds: (text: string, at: number) => boolean }
  | { readonly do: 'save'; readonly slot: number }
  /** Fails if nothing was read since the slot was saved: an empty turn of a loop. */
  | { readonly do: 'moved'; readonly slot: number }
  | { readonly do: 'look'; readonly program: readonly Instruction[]; readonly negate: boolean }
  | { readonly do: 'same'; readonly group: number; readonly isBackward: boolean }
  | { readonly do: 'match' }

interface Program {
  readonly instructions: readonly Instruction[]
  readonly slots: number
  readonly isUnicode: boolean
}

const programs = new Map<string, Program>()

/**
 * Counts the steps of a backtracking search for a regular expression. The engine does the same, and cannot say how
 * many steps it took.
 * @returns the end of the match or -1, and the steps
 */
export function searchSteps(expression: RegExp, text: string, from: number): [number, number] {
  const { source, flags } = expression
  const key = `/${source}/${flags}`
  const program = programs.get(key) ?? compile(expression)
  programs.set(key, program)
  const search = new Search(program, text)
  for (let at = from; at <= text.length; at++) {
    const end = search.matchAt(at)
    if (end >= 0 || expression.sticky) return [end, search.steps]
    if (program.isUnicode && text.codePointAt(at)! > 0xff_ff) at++
  }
  return [-1, search.steps]
}

class Search {
  steps = 0
  readonly #program: Program
  readonly #text: string
  readonly #slots: Int32Array

  constructor(program: Program, text: string) {
    this.#program = program
    this.#text = text
    this.#slots = new Int32Array(program.slots)
  }

  matchAt(at: number): number {
    this.#slots.fill(-1)
    return this.#run(this.#program.instructions, at)
  }

  #run(instructions: readonly Instruction[], start: number): number {
    const text = this.#text
    const slots = this.#slots
    // Triples: an instruction and a position to go back to, or a slot with the value to put back.
    const back: number[] = []
    let [next, at] = [0, start]
    const save = (slot: number, value: number): void => {
      back.push(-1, slot, slots[slot]!)
      slots[slot] = value
    }
    for (;;) {
      this.steps++
      const one = instructions[next]!
      let isAlive = true
      next++
      if (one.do === 'char') {
        const char = this.#charAt(at, one.isBackward)
        isAlive = char !== '' && one.accepts(char)
        at += one.isBackward ? -char.length : char.length
      } else if (one.do === 'jump') next = one.to
      else if (one.do === 'split') {
        back.push(one.or, at, 0)
        next = one.to
      } else if (one.do === 'at') isAlive = one.holds(text, at)
      else if (one.do === 'save') save(one.slot, at)
      else if (one.do === 'moved') isAlive = slots[one.slot] !== at
      else if (one.do === 'look') {
        const before = slots.slice()
        const isFound = this.#run(one.program, at) >= 0
        isAlive = isFound !== one.negate
        const after = slots.slice()
        slots.set(before)
        if (isAlive && isFound)
          for (const [slot, value] of after.entries()) if (value !== before[slot]) save(slot, value)
      } else if (one.do === 'same') {
        const [a, b] = [slots[2 * one.group]!, slots[2 * one.group + 1]!]
        const same = a < 0 || b < 0 ? '' : text.slice(Math.min(a, b), Math.max(a, b))
        const to = one.isBackward ? at - same.length : at
        isAlive = text.startsWith(same, to) && to >= 0
        this.steps += same.length
        at = one.isBackward ? to : at + same.length
      } else return at
      while (!isAlive) {
        if (back.length === 0) return -1
        const value = back.pop()!
        const place = back.pop()!
        const instruction = back.pop()!
        if (instruction < 0) slots[place] = value
        else {
          ;[next, at] = [instruction, place]
          isAlive = true
        }
      }
    }
  }

  #charAt(at: number, isBackward: boolean): string {
    const text = this.#text
    if (!this.#program.isUnicode) return text.charAt(isBackward ? at - 1 : at)
    if (!isBackward) return at < text.length ? String.fromCodePoint(text.codePointAt(at)!) : ''
    const pair = at > 1 ? text.codePointAt(at - 2)! : 0
    return pair > 0xff_ff ? text.slice(at - 2, at) : text.charAt(at - 1)
  }
}

function compile(expression: RegExp): Program {
  const { source, flags } = expression
  const isUnicode = /[uv]/.test(flags)
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, {
    unicode: flags.includes('u'),
    unicodeSets: flags.includes('v'),
  })
  const groups = new Map<AST.CapturingGroup, number>()
  let slots = 0
  const accepting = new Map<string, Accepts>()
  // The engine itself says which characters a class has.
  const accepts = (raw: string): Accepts => {
    const known = accepting.get(raw)
    if (known !== undefined) return known
    const one = new RegExp(`^(?:${raw})$`, flags.replaceAll(/[gymd]/g, ''))
    const answers = new Map<string, boolean>()
    const made = (char: string): boolean => {
      let answer = answers.get(char)
      if (answer === undefined) answers.set(char, (answer = nativeTest(one, char)))
      return answer
    }
    accepting.set(raw, made)
    return made
  }

  const number = (group: AST.CapturingGroup): number => {
    if (!groups.has(group)) groups.set(group, groups.size)
    return groups.get(group)!
  }
  // Slots of groups come first, two for each; those of loops after them.
  const countGroups = /\((?!\?)|\(\?<(?![=!])/g
  slots = 2 * (source.match(countGroups)?.length ?? 0) + 2

  const emitAll = (out: Instruction[], all: readonly AST.Alternative[], back: boolean): void => {
    const ends: Extract<Instruction, { do: 'jump' }>[] = []
    for (const [index, { elements }] of all.entries()) {
      const split = { do: 'split' as const, to: 0, or: 0 }
      if (index < all.length - 1) {
        out.push(split)
        split.to = out.length
      }
      for (const element of back ? elements.toReversed() : elements) emit(out, element, back)
      if (index === all.length - 1) break
      const end = { do: 'jump' as const, to: 0 }
      ends.push(end)
      out.push(end)
      split.or = out.length
    }
    for (const end of ends) end.to = out.length
  }

  const emit = (out: Instruction[], node: AST.Element, back: boolean): void => {
    switch (node.type) {
      case 'Character':
      case 'CharacterSet':
      case 'CharacterClass':
      case 'ExpressionCharacterClass':
        out.push({ do: 'char', accepts: accepts(node.raw), isBackward: back })
        return
      case 'Group':
        emitAll(out, node.alternatives, back)
        return
      case 'CapturingGroup': {
        const slot = 2 * number(node)
        out.push({ do: 'save', slot: back ? slot + 1 : slot })
        emitAll(out, node.alternatives, back)
        out.push({ do: 'save', slot: back ? slot : slot + 1 })
        return
      }
      case 'Backreference':
        if (Array.isArray(node.resolved)) throw new TypeError(`${source}: groups of one name`)
        out.push({ do: 'same', group: number(node.resolved), isBackward: back })
        return
      case 'Assertion': {
        if (node.kind === 'lookahead' || node.kind === 'lookbehind') {
          const program: Instruction[] = []
          emitAll(program, node.alternatives, node.kind === 'lookbehind')
          program.push({ do: 'match' })
          out.push({ do: 'look', program, negate: node.negate })
          return
        }
        out.push({ do: 'at', holds: edge(node, expression) })
        return
      }
      case 'Quantifier':
        emitLoop(out, node, back)
        return
      default:
        throw new TypeError(`${source}: ${(node as AST.Element).raw} is not counted`)
    }
  }

  const emitLoop = (out: Instruction[], node: AST.Quantifier, back: boolean): void => {
    const { min, max, greedy, element } = node
    for (let turn = 0; turn < min; turn++) emit(out, element, back)
    const optional = (): {
      readonly split: Extract<Instruction, { do: 'split' }>
      readonly slot: number
    } => {
      const split = { do: 'split' as const, to: 0, or: 0 }
      out.push(split)
      if (greedy) split.to = out.length
      else split.or = out.length
      const slot = slots++
      out.push({ do: 'save', slot })
      emit(out, element, back)
      out.push({ do: 'moved', slot })
      return { split, slot }
    }
    const leave = (split: Extract<Instruction, { do: 'split' }>): void => {
      if (greedy) split.or = out.length
      else split.to = out.length
    }
    if (max === Infinity) {
      const start = out.length
      const { split } = optional()
      out.push({ do: 'jump', to: start })
      leave(split)
      return
    }
    const splits = Array.from({ length: max - min }, () => optional().split)
    for (const split of splits) leave(split)
  }

  const instructions: Instruction[] = []
  emitAll(instructions, pattern.alternatives, false)
  instructions.push({ do: 'match' })
  return { instructions, slots, isUnicode }
}

function edge(node: AST.EdgeAssertion | AST.WordBoundaryAssertion, { multiline }: RegExp) {
  const isLineBreak = (char: string): boolean => /[\n\r\u2028\u2029]/.test(char)
  if (node.kind === 'start')
    return (text: string, at: number) => at === 0 || (multiline && isLineBreak(text[at - 1]!))
  if (node.kind === 'end')
    return (text: string, at: number) => at === text.length || (multiline && isLineBreak(text[at]!))
  const isWord = (char = ''): boolean => /\w/.test(char)
  const { negate } = node as AST.WordBoundaryAssertion
  return (text: string, at: number) => (isWord(text[at - 1]) !== isWord(text[at])) !== negate
}

// Kept from before anyone counts.
// oxlint-disable-next-line typescript/unbound-method
const { exec } = RegExp.prototype
function nativeTest(expression: RegExp, text: string): boolean {
  return exec.call(expression, text) !== null
}
