import ipaddr from 'ipaddr.js'

/** Returns true if the host of a URL is an IP address that is not public. */
export function isSpecialAddress(host: string): boolean {
  const text = host.replace(/^\[|\]$/g, '')
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.parse(text)
  // Public IPv6 addresses begin with the bits 001; the IPv4 address belongs to Azure's host.
  const isPublic = address.kind() === 'ipv4' || /^[23]...:/.test(address.toNormalizedString())
  return !isPublic || address.range() !== 'unicast' || text === '168.63.129.16'
}
