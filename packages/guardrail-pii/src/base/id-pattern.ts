const letters = String.raw`A-Za-z\u00c0-\u024f\u0370-\u052f`
const before = String.raw`(?<![${letters}\d]|\d[.\-])`
const after = String.raw`(?![${letters}\d_]|\.\d|-\d\d)`

/** Creates a pattern for a number that is not part of a longer number or of a word. */
export function idPattern(pattern: string): RegExp {
  return new RegExp(before + pattern + after)
}
