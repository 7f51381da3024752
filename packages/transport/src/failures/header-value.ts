/** Tells if a header can carry the value: fetch refuses others, and quotes them as it does. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}

/** Reason why no header can carry a value, without the value. */
export const unfitForHeader = 'holds a character that no header can carry, such as a line break'

/**
 * Checks a value for a header.
 * @throws TypeError if no header can carry it, without the value
 */
export function checkHeader(subject: string, value: string | undefined): void {
  if (value !== undefined && !isHeaderValue(value)) {
    throw new TypeError(`${subject} ${unfitForHeader}`)
  }
}
