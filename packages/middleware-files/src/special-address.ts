import ipaddr from 'ipaddr.js'

/** Tells whether the host of a URL is an IP address that is not a public one. */
export function isSpecialAddress(host: string): boolean {
  const text = host.replace(/^\[|\]$/g, '')
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.parse(text)
  // Public addresses of IPv6 begin with the bits 001; the other address is that of Azure's host.
  const isPublic = address.kind() === 'ipv4' || /^[23]...:/.test(address.toNormalizedString())
  return !isPublic || address.range() !== 'unicast' || text === '168.63.129.16'
}
