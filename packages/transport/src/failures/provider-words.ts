import type { ChatRequest } from '@lamella/core'
import { recordOf } from '../wire/wire.ts'

const longest = 500

// Shorter overlaps are words that any two texts share. To find all of this length, it is enough to
// look at a piece of 9 characters at every eighth place.
const quoteLength = 16
const stride = quoteLength / 2
const pieceLength = stride + 1
const shortestText = 6

/** Parts that must not be repeated from a provider's error message. */
export interface Confidential {
  /** Keys and tokens. Only read when there is a message to clean. */
  readonly keys: () => readonly string[]
  /** Texts of the conversation. Only read when there is a message to clean. */
  readonly texts: () => readonly string[]
}

/**
 * Returns the provider's message about a failure in a form that is safe to log: without keys (also
 * masked ones), quotes of the conversation and HTML pages, at most 500 characters.
 */
export function providerWords(message: string, { keys, texts }: Confidential): string {
  if (/^\s*</.test(message)) return 'a web page instead of JSON'
  let words = message.slice(0, 4 * longest)
  for (const key of keys().filter(isSecret)) words = words.replaceAll(key, '[key]')
  words = words
    .replace(/\bBearer\s+\S+/gi, 'Bearer [key]')
    .replace(/\b(?:sk|pk|rk|sess|gsk|xai)-[\w*.-]{4,}/g, '[key]')
    .replace(/\S*\*{2,}\S*/g, '[key]')
  words = withoutQuotes(words, texts())
  return words.length > longest ? `${words.slice(0, longest)}…` : words
}

/** Tells a secret from the placeholder for a server that needs no key, such as `none` or `ollama`. */
export function isSecret(key: string): boolean {
  return key.length >= 8
}

function withoutQuotes(words: string, texts: readonly string[]): string {
  const isQuoted = new Uint8Array(words.length)
  const pieces = piecesOf(words)
  for (const text of texts) {
    const whole = text.trim()
    if (whole.length >= shortestText && whole.length < quoteLength) {
      for (let at = words.indexOf(whole); at !== -1; at = words.indexOf(whole, at + 1)) {
        isQuoted.fill(1, at, at + whole.length)
      }
    }
    for (let from = 0; from + pieceLength <= text.length; from += stride) {
      for (const at of pieces.get(text.slice(from, from + pieceLength)) ?? []) {
        const { start, end } = overlap(words, at, text, from)
        if (end - start >= quoteLength) isQuoted.fill(1, start, end)
      }
    }
  }
  let cleaned = ''
  for (let at = 0; at < words.length; at++) {
    if (isQuoted[at] !== 1) cleaned += words[at]
    else if (at === 0 || isQuoted[at - 1] !== 1) cleaned += '[…]'
  }
  return cleaned
}

/** Places of each piece of the words. */
function piecesOf(words: string): ReadonlyMap<string, readonly number[]> {
  const pieces = new Map<string, number[]>()
  for (let at = 0; at + pieceLength <= words.length; at++) {
    const piece = words.slice(at, at + pieceLength)
    const places = pieces.get(piece)
    if (places === undefined) pieces.set(piece, [at])
    else places.push(at)
  }
  return pieces
}

/** How far the two agree around a place where they do. */
function overlap(
  words: string,
  at: number,
  text: string,
  from: number,
): { readonly start: number; readonly end: number } {
  let before = 0
  while (before < at && before < from && words[at - before - 1] === text[from - before - 1])
    before++
  let after = 0
  while (at + after < words.length && words[at + after] === text[from + after]) after++
  return { start: at - before, end: at + after }
}

/** Returns the texts of a conversation. Bytes of files are no text that an error would quote. */
export function conversationTexts({ messages, instructions = '' }: ChatRequest): readonly string[] {
  const texts = [instructions]
  const take = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'object' && value !== null && recordOf(value)['type'] !== 'data') {
      Object.values(value).forEach(take)
    }
  }
  for (const { contents } of messages) take(contents)
  return texts
}

/** Returns the name of a code or type if it is safe to show: short, and only a name. */
export function safeName(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w.-]{1,64}$/.test(value) ? value : undefined
}
