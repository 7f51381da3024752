/**
 * Characters that separate words, for a class of a pattern. Letters of scripts that are written without white
 * space separate too, and so nothing matches across one.
 */
export const separators: string = String.raw`\s\u0e00-\u0e7f\u3000-\u30ff\u3400-\u9fff`
