import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isAbsolutePath } from '@lamella/text'
import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { pathFault } from './path-escape.ts'

const both = ['posix', 'win32'] as const
const isRefused = (path: string): boolean =>
  pathFault(path, both, 2) !== undefined || isAbsolutePath(path, both)

describe('how a path is written', () => {
  it.each([
    '../secret',
    'a/../../secret',
    '..\\secret',
    'a\\..\\..\\secret',
    'a/..\\../secret',
    '/etc/passwd',
    'C:\\Windows',
    'C:secret',
    '\\\\server\\share',
    '%2e%2e%2fsecret',
    '%252e%252e%252fsecret',
    '..%c0%afsecret',
    '.\u200B./secret',
    '..\u00AD/secret',
    '..%u2215..%u002f..%u002fsecret',
    'a\u0000.md',
    'a%00.md',
    '~/.ssh/id_rsa',
    '~root',
    'file:///etc/passwd',
    'a/aux',
    'COM1.log',
    'file.txt::$DATA',
    '.. /secret',
    '.../secret',
    '. /../secret',
    '..;/secret',
    '%e0%80%ae%e0%80%ae/secret',
    '~root/.ssh/id_rsa',
  ])('%j is refused', (path) => {
    expect(isRefused(path)).toBe(true)
  })

  it.each([
    'README.md',
    'src/index.ts',
    'a/../b.md',
    './a',
    'x/.',
    '..foo/bar',
    'foo..bar',
    'foo/....bar',
    'app/[...slug]/page.tsx',
    '100%.md',
    'a%20b.md',
    'über/日本語.md',
    'auxiliary/console.ts',
    'a~b.md',
    '.env.example',
    '~$report.docx',
    '1⁄2.md',
    '',
  ])('%j passes', (path) => {
    expect(isRefused(path)).toBe(false)
  })

  it('a posix path may hold what only Windows reads otherwise', () => {
    expect(pathFault('a\\..\\..\\b', ['posix'], 2)).toBeUndefined()
    expect(pathFault('aux', ['posix'], 2)).toBeUndefined()
  })

  it('whatever passes stays inside, on both systems, as it is and decoded', async () => {
    const { posix, win32 } = await import('node:path')
    const part = fc.constantFrom(
      '..',
      '.',
      'a',
      'b ',
      '%2e%2e',
      '...',
      '.. ',
      '%2f',
      '%5c',
      'c.',
      '~',
    )
    const path = fc
      .array(fc.tuple(part, fc.constantFrom('/', '\\', '//', '%2f')))
      .map((parts) => parts.flat().join(''))
    fc.assert(
      fc.property(path, (text) => {
        if (isRefused(text)) return
        for (const form of [text, tryDecode(text), tryDecode(tryDecode(text))]) {
          expect(posix.resolve('/base/folder', form)).toMatch(/^\/base\/folder/)
          expect(win32.resolve('C:\\root\\folder', form)).toMatch(/^C:\\root\\folder/)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

function tryDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

// Test data that is kept beside the repository and never in it.
const corpus = fileURLToPath(new URL('../../../../shared/corpora/paths.jsonl', import.meta.url))
if (!existsSync(corpus)) console.warn(`middleware-files: not measured, there is no ${corpus}`)

test.skipIf(!existsSync(corpus))('measured: no escape is missed, no real path is refused', () => {
  const rows = readFileSync(corpus, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const missed = rows.filter(
    ({ text, posix_escapes, win32_escapes, after_decode, nul }) =>
      (posix_escapes || win32_escapes || after_decode > 0 || nul) && !isRefused(text),
  )
  const refused = rows.filter(({ text, label }) => label === 'benign' && isRefused(text))

  expect(missed.map(({ text }) => text)).toEqual([])
  expect(refused.map(({ text }) => text)).toEqual([])
})
