const identifier =
  /^(?:[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|[\da-f]{32}|[\da-f]{40}|[\da-f]{64}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*)$/i
const partOfWord = /[\p{L}\d_-]/u

/** Returns true for a find within a technical id: a UUID, a hash or a time. */
export function isInIdentifier(text: string, start: number, end: number): boolean {
  let [from, to] = [start, end]
  while (from > 0 && start - from < 64 && partOfWord.test(text[from - 1]!)) from--
  while (to < text.length && to - end < 64 && partOfWord.test(text[to]!)) to++
  return identifier.test(text.slice(from, to))
}
