import ipaddr from 'ipaddr.js'
import { checkOptions, wrongOption } from '@lamella/core/authoring'
import { isInternalHost, plainUrl } from '@lamella/text'
import type { ArgumentRule } from './argument-rule.ts'
import { nameGlob } from './name-glob.ts'

/** Options of `url()`. */
export interface UrlRuleOptions {
  /**
   * Hosts, such as `api.example.com` or `*.example.com`. Internal names and private addresses match only where
   * they are listed without a star.
   */
  readonly hosts: readonly string[]
  /**
   * Schemes without the colon.
   * @default ['https']
   */
  readonly schemes?: readonly string[] | undefined
  /**
   * Ports that a URL may state or imply.
   * @default that of the scheme
   */
  readonly ports?: readonly number[] | undefined
  /**
   * Lets internal names and private addresses match hosts with a star, too.
   * @default false
   */
  readonly allowPrivate?: boolean | undefined
}

/**
 * Requires an absolute URL of certain hosts that browsers, curl and Python read alike. It is neither resolved
 * nor fetched.
 *
 * @example
 * ```ts
 * import { url } from '@lamella/guardrail-tools'
 *
 * const rule = url({ hosts: ['*.example.com'] })
 * rule.check('https://evil.com/') // 'has a host that is not allowed'
 * ```
 * @throws TypeError or RangeError that names the option and the value
 */
export function url(options: UrlRuleOptions): ArgumentRule {
  checkOptions('url', options, {
    hosts: 'any',
    schemes: 'any',
    ports: 'any',
    allowPrivate: [true, false],
  })
  const { hosts, schemes = ['https'], ports, allowPrivate = false } = options
  if (!Array.isArray(hosts) || hosts.length === 0)
    throw wrongOption('url', 'hosts', 'a list', hosts)
  const listed: readonly string[] = hosts.map((host: string) => host.toLowerCase())
  const isAllowed = nameGlob(listed)
  return {
    check: (value) => {
      const parsed = typeof value === 'string' ? plainUrl(value) : undefined
      if (parsed === undefined) return 'must be a whole, plain URL'
      const { protocol, hostname, port } = parsed
      const host = hostname.replace(/\.$/, '')
      if (!schemes.includes(protocol.slice(0, -1))) return 'has a scheme that is not allowed'
      if (ports ? !ports.includes(Number(port || defaultPorts[protocol])) : port !== '') {
        return 'has a port that is not allowed'
      }
      const isPrivate = isInternalHost(host, ipaddr)
      if (isPrivate && !allowPrivate && !listed.includes(host)) {
        return 'is an address of a private network'
      }
      return isAllowed(host) ? undefined : 'has a host that is not allowed'
    },
  }
}

const defaultPorts: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 }
