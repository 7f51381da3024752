import { stripVTControlCharacters, styleText } from 'node:util'
import type { Explanation } from '@lamella/core'
import { inSeconds } from './in-words.ts'
import type { PipelineStep } from './middleware-step.ts'
import { WordWrap } from './word-wrap.ts'

type Style = Parameters<typeof styleText>[0]

const marks = { in: '→', out: '←', failed: '✕', again: '↻', stopped: '✕' } as const
const markStyles = {
  in: 'dim',
  out: 'dim',
  failed: 'red',
  again: 'yellow',
  stopped: 'red',
} as const
const levels = { agent: 'run', chat: 'model', function: 'tool' } as const
const levelStyles = { agent: 'magenta', chat: 'cyan', function: 'green' } as const

/** Writes a run to the terminal: steps of middleware, indented by their depth, and the answer. */
export class Screen {
  readonly #output: NodeJS.WriteStream
  readonly #isColoured: boolean
  /** Depth and level of each middleware in the onion. */
  readonly #places = new Map<string, { depth: number; level: keyof typeof levels }>()
  #stepWidth = 0
  readonly #wrap = new WordWrap(() => this.#output.columns ?? Infinity)
  /** Last text on the screen. */
  #last: 'nothing' | 'line' | 'blank' | 'answer' = 'nothing'

  constructor(output: NodeJS.WriteStream) {
    this.#output = output
    this.#isColoured = output.isTTY && !process.env['NO_COLOR'] && output.hasColors()
  }

  /** Prints the onion, and remembers the depth of each middleware. */
  onion({ agent, chat, function: functions, tools }: Explanation, model: string): void {
    const chains = {
      agent: [agent, 'the loop'],
      chat: [chat, model],
      function: [functions, tools.join(', ')],
    } as const
    for (const level of ['agent', 'chat', 'function'] as const) {
      const [names, core] = chains[level]
      const outside = level === 'agent' ? 0 : agent.length
      for (const [index, middleware] of names.entries()) {
        const depth = outside + index
        this.#places.set(middleware, { depth, level })
        this.#stepWidth = Math.max(this.#stepWidth, 2 * depth + 2 + middleware.length)
      }
      const chain = [...names.map((name) => this.style(levelStyles[level], name)), core].join(' → ')
      this.line(`${levels[level].padEnd(9)}${chain}`)
    }
  }

  /** Prints one step of one middleware as one line. */
  step({ middleware, mark, text, elapsedMs }: PipelineStep): void {
    if (this.#last === 'answer') this.blank()
    const { depth, level } = this.#places.get(middleware) ?? { depth: 0, level: 'agent' }
    const time = elapsedMs === undefined ? '' : inSeconds(elapsedMs)
    const room = this.#width - this.#stepWidth - 18
    const label = this.style('dim', `${levels[level].padEnd(6)}${'│ '.repeat(depth)}`)
    const name = `${this.style(markStyles[mark], marks[mark])} ${this.style(levelStyles[level], middleware)}`
    const gap = ' '.repeat(this.#stepWidth - 2 * depth - middleware.length)
    const words = fit(text, room)
    const said = this.style(mark === 'in' || mark === 'out' ? 'dim' : markStyles[mark], words)
    const end = time === '' ? '' : this.style('dim', time.padStart(room - words.length + 10))
    this.line(`${label}${name}${gap}${said}${end}`)
  }

  /** Prints a piece of the answer. */
  answer(piece: string): void {
    if (piece === '') return
    if (this.#last === 'line') this.blank()
    this.#output.write(this.#wrap.push(printable(piece)))
    this.#last = 'answer'
  }

  /** Prints a separate line. */
  line(text: string): void {
    if (this.#last === 'answer') this.#output.write(`${this.#wrap.end()}\n`)
    this.#output.write(`${text}\n`)
    this.#last = 'line'
  }

  /** Prints a line that explains the screen itself. */
  hint(text: string): void {
    this.line(this.style('dim', text))
  }

  /** Ends the current text with an empty line, unless there is one. */
  blank(): void {
    if (this.#last === 'blank' || this.#last === 'nothing') return
    this.#output.write(this.#last === 'answer' ? `${this.#wrap.end()}\n\n` : '\n')
    this.#last = 'blank'
  }

  style(style: Style, text: string): string {
    return this.#isColoured ? styleText(style, text, { validateStream: false }) : text
  }

  get #width(): number {
    return Math.max(72, Math.min(this.#output.columns ?? 110, 110))
  }
}

/** One line of at most `room` characters. */
function fit(text: string, room: number): string {
  const line = printable(text).replace(/\s+/gu, ' ')
  return line.length > room ? `${line.slice(0, room - 1)}…` : line
}

/** Removes control sequences: models and documents may contain anything. */
function printable(text: string): string {
  return stripVTControlCharacters(text).replace(/[^\P{Cc}\n\t]/gu, '')
}
