import type { InjectionMatch } from '../assess/hidden-text.ts'

/** Extends the range of an attack to whole lines. */
export function attackSpan(
  text: string,
  matches: readonly InjectionMatch[],
): { readonly start: number; readonly end: number } {
  const strong = matches.filter(({ weight }) => weight >= leastWeight)
  const shown = strong.length > 0 ? strong : matches
  const first = Math.min(...shown.map(({ start }) => start))
  const last = Math.max(...shown.map(({ end }) => end))
  // In JSON, it is the string with the words, or a line of it.
  const edge = /^\s*[[{]/.test(text) ? /\n|\\n|"/g : /\n/g
  let start = 0
  let end = text.length
  for (const { 0: mark, index } of text.matchAll(edge)) {
    if (mark === '"' && text[index - 1] === '\\') continue
    if (index + mark.length <= first) start = index + mark.length
    if (index >= last) {
      end = index
      break
    }
  }
  return { start, end: Math.max(end, start + 1) }
}

const leastWeight = 0.4
