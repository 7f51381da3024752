/**
 * Checks the address of a server.
 * @throws TypeError for an address that fetch could never call. It is not repeated: it may hold secrets.
 */
export function checkAddress(subject: string, address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new TypeError(`${subject} must be an address that begins with http:// or https://`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(
      `${subject} must not hold a user name or password; send them in \`defaultHeaders\``,
    )
  }
}
