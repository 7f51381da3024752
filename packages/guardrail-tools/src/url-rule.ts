import { checkOptions, wrongOption } from '@lamella/core/authoring'
import type { ArgumentRule } from './argument-rule.ts'
import { nameGlob } from './name-glob.ts'

export interface UrlRuleOptions {
  /** Hosts, such as `api.example.com` or `*.example.com`. */
  readonly hosts: readonly string[]
  /** @default ['https'] */
  readonly schemes?: readonly string[] | undefined
  /** @default that of the scheme */
  readonly ports?: readonly number[] | undefined
  /**
   * Whether addresses of this machine and of private networks are allowed where `hosts` names them.
   * @default false
   */
  readonly allowPrivate?: boolean | undefined
}

/** An absolute URL of certain hosts, read as browsers read it. It is not resolved and not fetched. */
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
  const isAllowed = nameGlob(hosts.map((host) => host.toLowerCase()))
  return {
    check: (value) => {
      const parsed = typeof value === 'string' ? URL.parse(value) : null
      if (parsed === null) return 'must be a whole URL'
      const { protocol, hostname, port, username, password } = parsed
      const host = hostname.replace(/\.$/, '')
      if (!schemes.includes(protocol.slice(0, -1))) return 'has a scheme that is not allowed'
      if (username !== '' || password !== '') return 'must have no user or password'
      if (ports ? !ports.includes(Number(port || defaultPorts[protocol])) : port !== '') {
        return 'has a port that is not allowed'
      }
      if (!allowPrivate && isPrivate(host)) return 'is an address of a private network'
      return isAllowed(host) ? undefined : 'has a host that is not allowed'
    },
  }
}

const defaultPorts: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 }

/** Addresses that only mean something on this machine or in its network. */
function isPrivate(host: string): boolean {
  if (/(?:^|\.)(?:localhost|local|internal|home\.arpa)$/.test(host)) return true
  if (host.startsWith('[')) return isPrivateV6(host.slice(1, -1))
  const parts = /^(\d+)\.(\d+)\.\d+\.\d+$/.exec(host)
  return parts !== null && isPrivateV4(Number(parts[1]), Number(parts[2]))
}

function isPrivateV4(first: number, second: number): boolean {
  return (
    first === 0 ||
    first === 10 ||
    first === 127 ||
    first >= 224 ||
    (first === 100 && second >= 64 && second < 128) ||
    (first === 169 && second === 254) ||
    (first === 172 && second >= 16 && second < 32) ||
    (first === 192 && (second === 168 || second === 0)) ||
    (first === 198 && (second === 18 || second === 19))
  )
}

function isPrivateV6(address: string): boolean {
  // What embeds an address of IPv4 is there to be told apart by nobody.
  return /^(?:::|64:ff9b:|2002:|f[cd]|fe[89a-f]|ff)/.test(address)
}
