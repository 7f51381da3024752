import type { InjectionSignal } from './injection-signal.ts'
import { lettersOf, normalizedStems, signalsOf } from './injection-signal.ts'

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
  /** Somebody who says that he has a rank. */
  readonly rank: string
  /** Words for what is to stay secret. */
  readonly secret: string
  /** Verbs that take a limit away. */
  readonly lift: string
  /** The limits of a model. */
  readonly limits: string
  /** A permission that a model does not have. */
  readonly permit: string
  /** Orders that are said to hold no longer. */
  readonly changed: string
  /** Orders to keep something from the user. */
  readonly hush: string
  /** Pattern in front of a stem. @default the start of a Latin word */
  readonly after?: string
}

/**
 * Makes signs of claims of a rank or a mode, new selves, questions about a model's own orders and words to a model that
 * reads a page, in one language each.
 */
export function claimSignals(claims: readonly Claims[]): readonly InjectionSignal[] {
  return claims.flatMap(({ language, after = '\\b', ...said }) => {
    const stems = (phrases: string): string => `${after}(?:${normalizedStems(phrases)})`
    const { enter, mode, master, tell, orders, free, now, reader } = said
    const { rank, secret, lift, limits, permit, changed, hush } = said
    // Of languages with letters of their own.
    const isForeign = after !== '\\b'
    const needsOneOf = (...phrases: readonly string[]) => ({
      isForeign,
      needs: [...lettersOf(language), new RegExp(stems(phrases.join('|')), 'g')],
    })
    const claim = needsOneOf(mode, master, orders, free, now, reader)
    const more = needsOneOf(rank, secret, limits, permit, changed, hush)
    const near = { within: 24, anyOrder: true }
    const authority = signalsOf('authority', language)
    const leak = signalsOf('leak', language)
    const persona = signalsOf('persona', language)
    const toolAbuse = signalsOf('tool-abuse', language)
    return [
      authority(0.45, [stems(enter), stems(mode)], { ...claim, ...near }),
      authority(0.4, stems(mode), claim),
      authority(0.55, stems(master), claim),
      authority(0.3, stems(rank), more),
      authority(0.25, stems(permit), more),
      leak(0.7, [stems(tell), stems(orders)], { ...claim, ...near }),
      leak(0.5, [stems(tell), stems(secret)], { ...more, ...near }),
      persona(0.35, stems(free), claim),
      persona(0.45, [stems(now), stems(free)], { ...claim, ...near }),
      persona(0.5, [stems(lift), stems(limits)], { ...more, ...near }),
      signalsOf('role-play', language)(0.3, stems(now), claim),
      signalsOf('override', language)(0.4, stems(changed), more),
      toolAbuse(0.5, stems(reader), claim),
      toolAbuse(0.5, stems(hush), more),
    ]
  })
}
