/** Creates a pattern for any of some texts, longest first, without a character of `edge` beside it. */
export function anyOf(texts: readonly string[], flags: string, edge?: string): RegExp {
  const longestFirst = texts.toSorted((left, right) => right.length - left.length)
  const escaped = longestFirst.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`))
  const any = `(?:${escaped.join('|')})`
  return new RegExp(edge === undefined ? any : `(?<!${edge})${any}(?!${edge})`, flags)
}
