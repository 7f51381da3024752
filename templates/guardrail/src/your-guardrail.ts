import type { GuardrailMiddleware, GuardrailOptions, Verdict } from '@lamella/guardrail'
import { guardrail } from '@lamella/guardrail'
import { wrongOption } from '@lamella/core/authoring'

export interface YourGuardrailOptions
  extends Partial<Omit<GuardrailOptions, 'check' | 'stream' | 'level'>> {
  /** Words that are taken out, in any case. */
  readonly words: readonly string[]
}

/**
 * Takes words out of what goes in and out. It holds while streaming: of a text that could still become
 * one of the words, nothing leaves.
 * @throws TypeError that names the option and the value
 */
export function yourGuardrail({
  words,
  ...options
}: YourGuardrailOptions): readonly GuardrailMiddleware<'agent' | 'chat'>[] {
  const isWord = (word: unknown): boolean =>
    typeof word === 'string' && /^[\p{L}\p{N}]+$/u.test(word)
  if (!Array.isArray(words) || words.length === 0 || !words.every(isWord)) {
    throw wrongOption('yourGuardrail', 'words', 'a list of words of letters and digits', words)
  }
  // Letters and digits only, so that there is nothing in it that could take long.
  const pattern = new RegExp(words.join('|'), 'giu')
  const longest = Math.max(...words.map((word) => word.length))

  const check = ({ text }: { readonly text: string }): Verdict => {
    const spans = [...text.matchAll(pattern)].map(({ index, 0: found }) => ({
      start: index,
      end: index + found.length,
    }))
    if (spans.length === 0) return { action: 'allow' }
    return { action: 'replace', category: 'word', replacement: '…', spans }
  }
  return guardrail({
    name: 'your-guardrail',
    applyTo: ['input', 'output', 'arguments', 'result'],
    ...options,
    check,
    stream: { release: 'window', holdChars: longest },
  })
}
