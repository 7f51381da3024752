import type { GuardrailMiddleware, GuardrailOptions, Verdict } from '@lamella/guardrail'
import { guardrail } from '@lamella/guardrail'
import { wrongOption } from '@lamella/core/authoring'

export interface YourGuardrailOptions
  extends Partial<Omit<GuardrailOptions, 'check' | 'stream' | 'level'>> {
  /** Words to remove, whatever their case. */
  readonly words: readonly string[]
}

/**
 * Removes words from the input and the output. This includes streams: text that could still turn into
 * one of the words is held back.
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
  // The words are letters and digits only, so the pattern cannot backtrack.
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
