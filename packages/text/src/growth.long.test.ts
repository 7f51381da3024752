import { expect, test } from 'vitest'
import { growthExponent, hostilePieces, linear } from '../../../tests/support/growth-exponent.ts'
import { canonicalJson, jsonCopy, sha256 } from '@lamella/core/authoring'
import {
  decodePath,
  estimateTokens,
  isInternalHost,
  normalizeText,
  pathNames,
  pathOddity,
  plainUrl,
  readMarkup,
  requestTokens,
  tokenWeight,
} from './index.ts'
import { message } from '@lamella/core'

const functions: Readonly<Record<string, (text: string) => unknown>> = {
  canonicalJson: (text) => canonicalJson({ [text]: [text] }),
  decodePath,
  estimateTokens,
  isInternalHost: (text) =>
    isInternalHost(text, {
      isValid: () => false,
      parse: () => {
        throw new TypeError('there are no addresses')
      },
    }),
  jsonCopy: (text) => jsonCopy({ [text]: [text] }),
  normalizeText: (text) =>
    normalizeText(text, {
      stripDiacritics: true,
      lowerCase: true,
      joinSpacedLetters: true,
      collapseWhitespace: true,
    }),
  pathNames: (text) => [pathNames(text, 'posix'), pathNames(text, 'win32')],
  pathOddity: (text) => pathOddity(text, ['posix', 'win32']),
  plainUrl: (text) => [plainUrl(text), plainUrl(`https://${text}`)],
  readMarkup,
  'readMarkup, of a growing text': (text) => readMarkup(text, false),
  requestTokens: (text) =>
    requestTokens({
      messages: [message('user', text)],
      instructions: text,
      tools: undefined,
      responseFormat: undefined,
    }),
  sha256,
  tokenWeight,
}
const markup = ['<!--', '<!-- -', '&#0', '&lt;b&gt;', '<a b', '<a>']

test.each(Object.entries(functions))(
  'the work of %s is linear',
  { timeout: 600_000 },
  async (_, work) => {
    const found: string[] = []
    for (const piece of [...hostilePieces, ...markup]) {
      // oxlint-disable-next-line no-await-in-loop
      const exponent = await growthExponent(work, piece)
      if (exponent > linear) found.push(`${piece} ${exponent}`)
    }

    expect(found).toEqual([])
  },
)
