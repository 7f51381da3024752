import { testGrowthOfExports } from '../../../tests/support/growth-of-exports.ts'
import * as exports from './index.ts'

const { findPii, patternRecognizer, pii, presidio } = exports

// Counting takes longer than a scan may.
const maxScanMs = 600_000
const { signal } = new AbortController()
const analyzer = presidio({ url: 'http://presidio.example', fetch: async () => Response.json([]) })
const entities = [
  'contact',
  'financial',
  'gov-id-us',
  'gov-id-eu',
  'gov-id-world',
  'network',
  'secrets',
  'url',
]
const staff = patternRecognizer({ kind: 'staff', pattern: /\bE-\d{6}\b/, context: /staff/ })

testGrowthOfExports(exports, {
  texts: {
    findPii: (text) => findPii(text, { maxScanMs }),
    'findPii (all kinds, decoding)': (text) =>
      findPii(text, { maxScanMs, entities, decode: ['base64', 'url', 'hex'] }),
    presidio: (text) => analyzer(text, { signal }),
    patternRecognizer: (text) => [...staff.find(text, { regions: [], validate: true })],
  },
  middlewares: {
    pii: () => pii({ maxScanMs }),
    'pii (with a vault)': () => pii({ maxScanMs, vault: true }),
  },
})
