import { testGrowthOfExports } from '../../../tests/support/growth-of-exports.ts'
import * as exports from './index.ts'

const { auditLog, contentDigest, verify } = exports

testGrowthOfExports(exports, {
  texts: {
    contentDigest: (text) => contentDigest({ text }, { salt: 'a' }),
    verify: (text) => verify(inPieces(text)),
    'verify (lines of a logger)': (text) => verify(inPieces(text), { field: 'audit' }),
    'verify (a record)': (text) => verify(inPieces(JSON.stringify({ v: 1, text }))),
  },
  middlewares: {
    auditLog: () => auditLog({ sinks: () => {} }),
    'auditLog (with texts)': () =>
      auditLog({
        sinks: () => {},
        capture: { input: 'full', output: 'full', arguments: 'full', results: 'full' },
      }),
  },
  others: ['jsonLines', 'toLogger'],
})

/** Bytes of a text as a file is read: in pieces of 1,000 characters. */
async function* inPieces(text: string): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for (let at = 0; at < text.length; at += 1000) yield encoder.encode(text.slice(at, at + 1000))
}
