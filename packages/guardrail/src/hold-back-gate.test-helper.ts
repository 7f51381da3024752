import type { AgentResponseUpdate } from '@lamella/core'
import type { HoldBackOptions } from './hold-back-gate.ts'
import { holdBackGate } from './hold-back-gate.ts'
import type { ScanWindow } from './scan-options.ts'
import type { TextEdit } from './verdict.ts'

export type Update = AgentResponseUpdate

export interface Outcome {
  readonly updates: readonly Update[]
  readonly error: unknown
  /** Returns the passed text after each update. */
  readonly steps: readonly string[]
}

/** Sends updates through a gate. */
export async function drive(
  options: HoldBackOptions,
  updates: readonly Update[],
): Promise<Outcome> {
  const gate = holdBackGate(options)
  const left: Update[] = []
  const steps: string[] = []
  const controller = { enqueue: (update: Update) => void left.push(update), terminate: () => {} }
  try {
    await gate.start?.(controller)
    for (const update of updates) {
      await gate.transform?.(update, controller)
      steps.push(textIn(left))
    }
    await gate.flush?.(controller)
    return { updates: left, error: undefined, steps }
  } catch (error) {
    return { updates: left, error, steps }
  }
}

export function textIn(updates: readonly Update[]): string {
  return updates
    .flatMap(({ contents }) => contents.map((c) => (c.type === 'text' ? c.text : '')))
    .join('')
}

export function say(text: string, rest: Partial<Update> = {}): Update {
  return { contents: [{ type: 'text', text }], role: 'assistant', messageId: 'm1', ...rest }
}

/** Says a text in pieces of a size. */
export function cut(text: string, size: number, rest?: Partial<Update>): Update[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    say(text.slice(at * size, (at + 1) * size), rest),
  )
}

/** Finds each match that begins in the window. */
export function spot(
  pattern: RegExp,
  edit: Partial<TextEdit> = { replacement: '*' },
): (window: ScanWindow) => TextEdit[] {
  return ({ text, from }) => {
    const found: TextEdit[] = []
    const matcher = new RegExp(pattern, 'gu')
    matcher.lastIndex = from
    for (let match = matcher.exec(text); match !== null; match = matcher.exec(text)) {
      found.push({ start: match.index, end: matcher.lastIndex, ...edit })
    }
    return found
  }
}

export const secret = {
  scan: spot(/secret/),
  pending: (text: string) => {
    const open = ['secre', 'secr', 'sec', 'se', 's'].find((start) => text.endsWith(start))
    return text.length - (open?.length ?? 0)
  },
}

export const toolResult: Update = {
  role: 'tool',
  messageId: 't1',
  contents: [{ type: 'function-result', callId: 'c1', contents: [] }],
}
