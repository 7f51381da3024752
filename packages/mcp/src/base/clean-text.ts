/**
 * Removes what a reader does not see (control characters, marks of direction, zero-width and private-use
 * characters), and cuts what is longer than `maxChars`.
 */
export function cleanText(text: string, maxChars: number): string {
  const visible = text.slice(0, maxChars * 4).replaceAll(/[^\P{C}\n\t]/gu, '')
  return visible.length > maxChars ? `${visible.slice(0, maxChars - 1)}…` : visible
}
