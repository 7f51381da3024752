import type { InjectionSignal } from './injection-signal.ts'
import { lettersOf, normalizedStems, signalsOf } from './injection-signal.ts'
import { ownWords } from './own-words.ts'

/** Words of one language for dropping instructions. They are stems, because endings follow. */
export interface Phrases {
  readonly language: string
  readonly drop: string
  readonly orders: string
  /** Words that tell a model's own orders from those on a packet of soup. */
  readonly which: string
  /** Parts of a conversation. */
  readonly said: string
  /** Words for what came before. */
  readonly earlier: string
  /** All that was said before. */
  readonly everything: string
  /** Beginnings of new orders. */
  readonly fresh: string
  /** Pattern in front of a stem. @default the start of a Latin word */
  readonly after?: string
}

/**
 * Attempts to replace the instructions of the model, in other languages: the verb, its object and
 * the attribute of the object, near each other, in the order of the language.
 */
export function foreignOverrides(phrases: readonly Phrases[]): readonly InjectionSignal[] {
  return phrases.flatMap(({ language, after = '\\b', ...said }) => {
    const stems = (phrase: keyof typeof said): string =>
      `${after}(?:${normalizedStems(said[phrase])})`
    const { before, behind } = ownWords[language] ?? {}
    const notOwn = (phrase: 'said' | 'earlier'): string =>
      [
        after,
        before === undefined ? '' : `(?<!${normalizedStems(before)})`,
        `(?:${normalizedStems(said[phrase])})`,
        behind === undefined ? '' : `(?!${normalizedStems(behind)})`,
      ].join('')
    const make = signalsOf('override', language)
    // Of languages with letters of their own.
    const isForeign = after !== '\\b'
    const more = { isForeign, needs: lettersOf(language) }
    const near = { ...more, anyOrder: true }
    return [
      make(0.8, [stems('drop'), stems('orders'), stems('which')], near),
      make(0.8, [stems('drop'), notOwn('said'), notOwn('earlier')], near),
      make(0.7, [stems('drop'), stems('everything')], { ...near, within: 24 }),
      make(0.6, stems('fresh'), more),
    ]
  })
}
