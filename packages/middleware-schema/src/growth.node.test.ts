import { testGrowthOfExports } from '../../../scripts/test-support/growth-of-exports.ts'
import * as exports from './index.ts'

const { parseJson, parsePartialJson, partialJson, repairJson, schemaValidator } = exports
const schema = { type: 'object', properties: { a: { type: 'string' } } }

/** Reads the value after every piece of a text. */
function inPieces(text: string): void {
  const reader = partialJson()
  for (let at = 0; at < text.length; at += 50) reader.push(text.slice(at, at + 50))
  reader.value()
}

testGrowthOfExports(exports, {
  texts: {
    parseJson: (text) => parseJson(text),
    'parseJson (a string)': (text) => parseJson(JSON.stringify({ a: text })),
    parsePartialJson: (text) => parsePartialJson(text),
    'parsePartialJson (of an object)': (text) => parsePartialJson(`{"a":${text}`),
    partialJson: inPieces,
    'partialJson (of an object)': (text) => inPieces(`{"a":${text}`),
    repairJson: (text) => repairJson(text),
    'repairJson (of an object)': (text) => repairJson(`{"a":${text}`),
  },
  middlewares: {
    schemaValidator: () => schemaValidator({ schema, maxReasks: 0, onFailure: 'raw' }),
  },
  // Its test counts what it copies.
  others: ['partialValues'],
})
