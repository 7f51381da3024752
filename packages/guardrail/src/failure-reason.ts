import { errorType } from '@lamella/core/authoring'

/** Longest reason in characters. */
const longestReason = 200

/** Characters of a message that must not be those of the judged text. */
const quoted = 8

/**
 * Class and message of the error with which a guardrail failed, in one line. Without the message, if that
 * quotes the judged text: it may be what the guardrail is there to withhold.
 */
export function failureReason(error: unknown, text: string): string {
  const { name, message } = Object(error) as { readonly name?: unknown; readonly message?: unknown }
  const type = typeof name === 'string' && /^[\w$.]{1,64}$/.test(name) ? name : errorType(error)
  if (typeof message !== 'string' || message === '') return type
  const words = message.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, longestReason)
  return quotes(words, text) ? `${type} (its message quotes the text)` : `${type}: ${words}`
}

/** A part of a message in quotation marks. A single letter tells nothing about a text. */
const inMarks = /(["'`])(.{2,}?)\1|[“‘«](.{2,}?)[”’»]/gu

/**
 * True if the words have 15 characters in a row, or fewer, of the text, or put a part of it in quotation marks, as
 * some engines do with a single word. Linear in the text.
 */
function quotes(words: string, text: string): boolean {
  if (text.length < quoted) return text !== '' && words.includes(text)
  for (const [, , plain, curly] of words.matchAll(inMarks)) {
    if (text.includes((plain ?? curly)!)) return true
  }
  for (let at = 0; at + quoted <= words.length; at += quoted) {
    if (text.includes(words.slice(at, at + quoted))) return true
  }
  return false
}
