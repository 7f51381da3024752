import type { InjectionSignal } from './injection-signal.ts'
import { normalizedStems, signalsOf } from './injection-signal.ts'

/** Claims of a rank or a mode, and questions about a model's own orders, in one language. Stems. */
export interface Claims {
  readonly language: string
  /** A mode in which a model would have no rules. */
  readonly mode: string
  /** Verbs that begin a mode. */
  readonly enter: string
  /** Somebody who says that a model has to obey. */
  readonly master: string
  /** Verbs that ask for words. */
  readonly tell: string
  /** The model's own orders. */
  readonly orders: string
  /** A self without rules. */
  readonly free: string
  /** A new self. */
  readonly now: string
  /** Words of a page to a model that reads it. */
  readonly reader: string
  /** Pattern in front of a stem. @default the start of a Latin word */
  readonly after?: string
}

/**
 * Makes signs of claims of a rank or a mode, new selves, questions about a model's own orders and words to a model that
 * reads a page, in one language each.
 */
export function claimSignals(claims: readonly Claims[]): readonly InjectionSignal[] {
  return claims.flatMap(({ language, after = '\\b', ...said }) => {
    const stems = (phrase: keyof typeof said): string =>
      `${after}(?:${normalizedStems(said[phrase])})`
    // Of languages with letters of their own.
    const isForeign = after !== '\\b'
    const { mode, master, orders, free, now, reader } = said
    const any = [mode, master, orders, free, now, reader].join('|')
    const more = { isForeign, needs: new RegExp(`${after}(?:${normalizedStems(any)})`, 'g') }
    const near = { ...more, within: 24, anyOrder: true }
    return [
      signalsOf('authority', language)(0.6, [stems('enter'), stems('mode')], near),
      signalsOf('authority', language)(0.4, stems('mode'), more),
      signalsOf('authority', language)(0.55, stems('master'), more),
      signalsOf('leak', language)(0.7, [stems('tell'), stems('orders')], near),
      signalsOf('persona', language)(0.35, stems('free'), more),
      signalsOf('role-play', language)(0.3, stems('now'), more),
      signalsOf('tool-abuse', language)(0.5, stems('reader'), more),
    ]
  })
}
