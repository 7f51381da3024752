const longest = 500
// Shorter overlaps are words that any two texts share.
const quoteLength = 16

/** What must not be repeated from a provider's error message. */
export interface Confidential {
  readonly key?: string | undefined
  /** Texts of the conversation. Only read when there is a message to clean. */
  readonly texts: () => readonly string[]
}

/**
 * The provider's own words about a failure, fit for a log: no key (masked ones neither), nothing
 * that quotes the conversation, no page of HTML, at most 500 characters.
 */
export function providerWords(message: string, { key, texts }: Confidential): string {
  if (/^\s*</.test(message)) return 'a web page instead of JSON'
  let words = message.slice(0, 4 * longest)
  if (key) words = words.replaceAll(key, '[key]')
  words = words
    .replace(/\bBearer\s+\S+/gi, 'Bearer [key]')
    .replace(/\b(?:sk|pk|rk|sess|gsk|xai)-[\w*.-]{4,}/g, '[key]')
    .replace(/\S*\*{2,}\S*/g, '[key]')
  words = withoutQuotes(words, texts())
  return words.length > longest ? `${words.slice(0, longest)}…` : words
}

function withoutQuotes(words: string, texts: readonly string[]): string {
  let cleaned = words
  for (const text of texts) {
    const whole = text.trim()
    if (whole.length >= 4 && whole.length < quoteLength) {
      cleaned = cleaned.replaceAll(whole, '[…]')
    }
  }
  let out = ''
  for (let at = 0; at < cleaned.length; ) {
    const length = quotedFrom(cleaned, at, texts)
    out += length > 0 ? '[…]' : cleaned[at]
    at += Math.max(length, 1)
  }
  return out
}

/** How much of `words` from `at` on stands in one of the texts, if that is more than chance. */
function quotedFrom(words: string, at: number, texts: readonly string[]): number {
  const start = words.slice(at, at + quoteLength)
  if (start.length < quoteLength) return 0
  let length = 0
  for (const text of texts) {
    for (let found = text.indexOf(start); found !== -1; found = text.indexOf(start, found + 1)) {
      let end = quoteLength
      while (at + end < words.length && words[at + end] === text[found + end]) end++
      length = Math.max(length, end)
    }
  }
  return length
}
