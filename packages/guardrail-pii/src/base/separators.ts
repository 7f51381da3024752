/**
 * Separators of words, for a character class. Letters of scripts without white space count as separators, so
 * that nothing matches across one.
 */
export const separators: string = String.raw`\s\u0e00-\u0e7f\u3000-\u30ff\u3400-\u9fff`

/** Text that normalization does not change. */
export const plainAscii: RegExp = /^[\t\n\x20-\x7e]*$/
