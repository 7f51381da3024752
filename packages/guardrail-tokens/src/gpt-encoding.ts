import type { CountTokens } from '@lamella/text'

/** Vocabularies of `gpt-tokenizer`. */
export type GptEncodingName = 'o200k_base' | 'cl100k_base'

export const gptEncodingNames: readonly GptEncodingName[] = ['o200k_base', 'cl100k_base']

interface GptEncoding {
  countTokens(text: string, options: { readonly disallowedSpecial: ReadonlySet<string> }): number
}

const loading = new Map<GptEncodingName, Promise<CountTokens | undefined>>()

/** Returns the vocabulary of an OpenAI model, or `undefined` if it is not known. */
export function encodingOf(model: string): GptEncodingName | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1)
  if (/^(ft:)?(gpt-4o|gpt-4\.[15]|gpt-[5-9]|gpt-oss|chatgpt|o\d|codex|computer-use)/.test(name)) {
    return 'o200k_base'
  }
  return /^(ft:)?(gpt-4|gpt-3\.5|gpt-35|text-embedding)/.test(name) ? 'cl100k_base' : undefined
}

/** Loads `gpt-tokenizer` once, at first use. Resolves to `undefined` if it is not installed. */
export function loadEncoding(name: GptEncodingName): Promise<CountTokens | undefined> {
  let counter = loading.get(name)
  if (counter === undefined) {
    // Not a literal: bundlers must not resolve an optional package.
    const specifier = `gpt-tokenizer/encoding/${name}`
    counter = import(/* @vite-ignore */ specifier).then(counterOf, () => undefined)
    loading.set(name, counter)
  }
  return counter
}

function counterOf(encoding: GptEncoding): CountTokens {
  const count = (text: string): number =>
    // Counts the names of special tokens as plain text.
    encoding.countTokens(text, { disallowedSpecial: new Set() })
  return (text) => {
    if (!longRun.test(text)) return count(text)
    let tokens = 0
    let start = 0
    for (const { index, 0: run } of text.matchAll(longRuns)) {
      tokens += count(text.slice(start, index + run.length))
      start = index + run.length
    }
    return tokens + count(text.slice(start))
  }
}

// The tokenizer's time grows with the square of the length of a run without a break.
const longRun = /\S{65}|\s{65}/u
const longRuns = /\S{64}|\s{64}/gu
