/** Returns all matches of a pattern with the flag `g`. Most texts have none, and a search for one is cheap. */
export function matchesOf(text: string, pattern: RegExp): Iterable<RegExpExecArray> {
  return text.search(pattern) < 0 ? [] : text.matchAll(pattern)
}
