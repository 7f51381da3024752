import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { plainUrl } from './read-url.ts'

const python = spawnSync('python3', ['--version']).status === 0
if (!python) {
  if (process.env['CI'] === 'true') throw new Error('there is no python3')
  console.warn('SKIPPED, there is no python3 to compare with')
}

const program = `
import json, sys
from urllib.parse import urlsplit
def host(text):
    try:
        parts = urlsplit(text)
        return [parts.scheme, parts.hostname, parts.port]
    except ValueError:
        return None
print(json.dumps([host(text) for text in json.load(sys.stdin)]))
`

/** Numbers from 0 to 1 that are the same each time. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => (state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296) / 4_294_967_296
}

test.skipIf(!python)('20,000 random URLs that are read have the same host in Python', () => {
  const pieces = [
    'http:',
    'https:',
    '//',
    '/',
    '\\',
    '@',
    ':',
    '80',
    '443',
    'example.com',
    'evil.com',
    '127.1',
    '0x7f',
    '.',
    '..',
    '?',
    '#',
    ' ',
    '\t',
    '\n',
    '%2e',
    '%40',
    '[',
    ']',
    '::1',
    'ü',
    '。',
    '／',
    '-',
    '_',
    ';',
    '&',
    'a',
  ]
  const random = randomOf(5)
  const texts = Array.from({ length: 20_000 }, () => {
    const start = random() < 0.8 ? 'https://' : ''
    const length = 1 + Math.floor(random() * 7)
    const rest = Array.from({ length }, () => pieces[Math.floor(random() * pieces.length)])
    return start + rest.join('')
  })
  const read = texts.filter((text) => plainUrl(text) !== undefined)

  const { stdout } = spawnSync('python3', ['-c', program], { input: JSON.stringify(read) })

  const ours = read.map((text) => {
    const { protocol, hostname } = plainUrl(text)!
    const port = /^https?:\/\/[^/?#]*?(?::(\d+))?(?:[/?#]|$)/.exec(text)?.[1]
    const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
    return [protocol.slice(0, -1), host, port === undefined ? null : Number(port)]
  })
  expect(read.length).toBeGreaterThan(500)
  expect(ours).toEqual(JSON.parse(stdout.toString()))
})
