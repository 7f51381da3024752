import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { sha256, webSha256 } from './sha256.ts'

test('is the SHA-256 of FIPS 180-4, section B.1', async () => {
  expect(await sha256('abc')).toBe(
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  )
})

test('Web Crypto gives the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (text) => {
      expect(await webSha256(text)).toBe(await sha256(text))
    }),
  )
})
