/**
 * Reads an absolute URL whose scheme, host and port browsers, curl and Python read alike. Returns nothing for
 * any other text: blanks, control characters, backslashes, a user, numbers and escapes that stand for a host.
 */
export function plainUrl(text: string): URL | undefined {
  const found = /^([a-z][a-z\d+.-]*):\/\/([\w.-]+|\[[\da-f:]+\])(?::([1-9]\d*))?(?![^/?#])/i.exec(
    text,
  )
  if (found === null || /[\p{C}\p{Z}\\]/u.test(text)) return undefined
  const url = URL.parse(text)
  const [, scheme, host, port] = found as unknown as [string, string, string, string | undefined]
  const isSame =
    url !== null &&
    url.protocol === `${scheme.toLowerCase()}:` &&
    url.hostname === host.toLowerCase() &&
    (url.port === (port ?? '') || (url.port === '' && port === defaultPorts[url.protocol]))
  return isSame ? url : undefined
}

const defaultPorts: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' }

/**
 * Tells whether a host name only means something on this machine or in its network: one without a dot, or with
 * a suffix that no public name has. An address is not a name and never internal here.
 */
export function isInternalName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  if (name.startsWith('[') || /^[\d.]+$/.test(name)) return false
  return !name.includes('.') || host.includes('..') || internalSuffix.test(name)
}

const internalSuffix =
  /\.(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|home\.arpa|svc|consul|workgroup|test|invalid|example|onion)$/

/** The part of the package `ipaddr.js` that `isInternalHost` needs. Core has no dependency. */
export interface AddressReader {
  /** Returns true for the text of an IP address. */
  isValid(text: string): boolean
  /** Reads an IP address. */
  parse(text: string): {
    /** `ipv4` or `ipv6`. */
    kind(): string
    /** Name of the range, `unicast` for an ordinary address. */
    range(): string
    /** Text with all parts. */
    toNormalizedString(): string
  }
}

/**
 * Returns true for the host of a URL that is an internal name, see {@link isInternalName}, or an IP address that is
 * not public. `addresses` is the default export of `ipaddr.js`.
 */
export function isInternalHost(host: string, addresses: AddressReader): boolean {
  const text = host.replace(/^\[|\]$/g, '')
  if (!addresses.isValid(text)) return isInternalName(host)
  const address = addresses.parse(text)
  // Public IPv6 addresses begin with the bits 001; the IPv4 address belongs to Azure's host.
  const isPublic = address.kind() === 'ipv4' || /^[23]...:/.test(address.toNormalizedString())
  return !isPublic || address.range() !== 'unicast' || text === '168.63.129.16'
}
