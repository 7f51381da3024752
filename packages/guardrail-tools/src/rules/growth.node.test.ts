import { expect, test } from 'vitest'
import { growthExponent, hostilePieces } from '../../../../scripts/test-support/growth-exponent.ts'
import { path } from './path-rule.ts'
import { shell } from './shell-rule.ts'
import { url } from './url-rule.ts'

const rules = {
  path: path({ roots: ['/srv'] }),
  shell: shell({ allow: ['ls *'] }),
  url: url({ hosts: ['*.a.com'] }),
}

test.each(Object.entries(rules))(
  'the time of %s() grows with the length of a hostile text, and no faster',
  (name, rule) => {
    for (const piece of hostilePieces) {
      for (const start of ['', name === 'url' ? 'https://' : 'ls ']) {
        const exponent = growthExponent((text) => rule.check(start + text), piece)
        expect(`${start}${piece} ${exponent <= 1.2 ? 'linear' : exponent}`).toBe(
          `${start}${piece} linear`,
        )
      }
    }
  },
  120_000,
)
