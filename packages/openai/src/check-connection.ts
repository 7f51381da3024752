/** Whether a header can carry the value: fetch refuses others, and quotes them as it does. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}

/** What is wrong with a value that no header can carry, without the value. */
export const unfitForHeader = 'holds a character that no header can carry, such as a line break'

/** @throws TypeError for a value that no header can carry */
export function checkHeader(subject: string, value: string | undefined): void {
  if (value !== undefined && !isHeaderValue(value)) {
    throw new TypeError(`${subject} ${unfitForHeader}`)
  }
}

/** @throws TypeError for what fetch could never call. The address is not repeated: it may hold secrets. */
export function checkAddress(subject: string, address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new TypeError(`${subject} must be a whole address that begins with http:// or https://`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(
      `${subject} must not hold a user name or password; send them in \`defaultHeaders\``,
    )
  }
}
