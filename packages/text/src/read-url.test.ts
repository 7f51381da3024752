import { expect, test } from 'vitest'
import type { AddressReader } from './read-url.ts'
import { isInternalHost, isInternalName, plainUrl } from './read-url.ts'

test.each([
  'https://api.example.com',
  'https://API.example.com./x?y=@z#//w',
  'https://api.example.com:443/',
  'http://10.0.0.1:8080/x',
  'https://[2606:4700::1111]/',
  'ftp://example.com/',
  'https://xn--bcher-kva.example.com/',
  'https://a_b.example.com/ü',
])('a plain URL is read: %s', (text) => {
  expect(plainUrl(text)?.href).toBe(URL.parse(text)?.href)
})

test.each([
  '',
  'example.com',
  '//example.com',
  'https:example.com',
  'https:/example.com',
  'https:///example.com',
  ' https://example.com',
  'https://example.com ',
  'https://exam\tple.com/',
  'https://example.com/\r\nX: y',
  'https://example.com/a b',
  'https://example.com\u00a0/',
  'https://example.com/\u200b',
  'https://example.com\\@evil.com/',
  'https://example.com/\\evil.com',
  'https://user@example.com/',
  'https://example.com:80@evil.com/',
  'https://example.com:/',
  'https://example.com:0443/',
  'https://example.com:99999/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://127.1/',
  'http://１２７.0.0.1/',
  'http://exa%6dple.com/',
  'http://bücher.example.com/',
  'http://faß.de/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::1%25eth0]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://example.com;evil.com/',
  'http://example.com"/',
  'ftp://example.com:21/',
  'javascript:alert(1)',
  'file:///etc/passwd',
])('a URL that is read differently is not read: %j', (text) => {
  expect(plainUrl(text)).toBeUndefined()
})

test('a name of this machine or its network is internal', () => {
  const names = [
    'redis',
    'localhost',
    'LOCALHOST.',
    'localhost..',
    'a..b.com',
    'router.lan',
    'x.corp',
    'db.internal',
    'kubernetes.default.svc',
    'x.svc.cluster.local',
    'printer.home.arpa',
  ]
  const others = ['example.com', 'example.com.', 'corp.com', '10.0.0.1', '[::1]', 'local.dev']

  expect([...names, ...others].filter(isInternalName)).toEqual(names)
})

test('a host is internal by its name, or by its address if that is not public', () => {
  const known: Readonly<Record<string, readonly [kind: string, range: string, text: string]>> = {
    '93.184.216.34': ['ipv4', 'unicast', '93.184.216.34'],
    '10.0.0.1': ['ipv4', 'private', '10.0.0.1'],
    '168.63.129.16': ['ipv4', 'unicast', '168.63.129.16'],
    '2606:4700::1111': ['ipv6', 'unicast', '2606:4700:0:0:0:0:0:1111'],
    '4000::1': ['ipv6', 'unicast', '4000:0:0:0:0:0:0:1'],
    '2001:db8::1': ['ipv6', 'reserved', '2001:db8:0:0:0:0:0:1'],
  }
  const addresses: AddressReader = {
    isValid: (text) => known[text] !== undefined,
    parse(text) {
      const [kind, range, normalized] = known[text]!
      return { kind: () => kind, range: () => range, toNormalizedString: () => normalized }
    },
  }
  const internal = ['redis', '10.0.0.1', '168.63.129.16', '[4000::1]', '[2001:db8::1]']
  const others = ['example.com', '93.184.216.34', '[2606:4700::1111]']

  const found = [...internal, ...others].filter((host) => isInternalHost(host, addresses))

  expect(found).toEqual(internal)
})
