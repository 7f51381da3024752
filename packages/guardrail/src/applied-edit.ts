/** An edit of the original text. Positions count from its beginning. */
export interface AppliedEdit {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

/** Applies ordered edits to the range from `from` to `to` of a text that begins at `start`. */
export function edited(
  text: string,
  start: number,
  from: number,
  to: number,
  edits: readonly AppliedEdit[],
): string {
  let made = ''
  let at = from
  for (const edit of edits) {
    if (edit.start >= to) break
    if (edit.start >= from) made += text.slice(at - start, edit.start - start) + edit.replacement
    at = Math.max(from, Math.min(edit.end, to))
  }
  return made + text.slice(at - start, to - start)
}

/** Inserts an edit in order. Merges overlapping edits into one, with the replacement of the first. */
export function insert(edits: AppliedEdit[], { start, end, replacement }: AppliedEdit): void {
  let at = edits.length
  while (at > 0 && edits[at - 1]!.end > start) at--
  let last = at
  let made: AppliedEdit = { start, end, replacement }
  for (; last < edits.length && edits[last]!.start < end; last++) {
    const other = edits[last]!
    const first = other.start <= made.start ? other : made
    made = { ...first, end: Math.max(made.end, other.end) }
  }
  edits.splice(at, last - at, made)
}
