const letters = String.raw`A-Za-z\u00c0-\u024f\u0370-\u052f`
const before = String.raw`(?<![${letters}\d]|\d[.\-])`
const after = String.raw`(?![${letters}\d_]|\.\d|-\d\d)`

/** A pattern for a number that stands by itself, and is no part of a longer one or of a word. */
export function idPattern(pattern: string): RegExp {
  return new RegExp(before + pattern + after)
}
