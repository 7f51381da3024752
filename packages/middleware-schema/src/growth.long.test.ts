import { jsonSchema } from '@lamella/core'
import { expect, test } from 'vitest'
import { testGrowthOfExports, tooFast } from '../../../tests/support/growth-of-exports.ts'
import { findBroken, findJson } from './find-json.ts'
import * as exports from './index.ts'
import { mendJson } from './mend-json.ts'

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
    // Without the library that reads shorter texts, in a time that is not linear.
    repairJson: (text) => repairJson(text, 0),
    'repairJson (of an object)': (text) => repairJson(`{"a":${text}`, 0),
  },
  middlewares: {
    schemaValidator: () =>
      schemaValidator({ schema: jsonSchema(schema), maxReasks: 0, onFailure: 'raw' }),
  },
  // Its test counts what it copies.
  others: ['partialValues'],
})

const units = [
  '"a"{a`null,',
  '[',
  '{"a":',
  '"',
  '"+"[',
  ',"a"/',
  '/*',
  '//\n',
  'a ',
  '\'“"a":`',
  '\\',
]

test.each(['', '["', '{"a":"'])('the work of mending what follows %j is linear', async (before) => {
  expect(await tooFast((text) => mendJson(before + text), units)).toEqual([])
})

test('the work of finding JSON is linear', async () => {
  const hostile = ['[', '{"', '```', '```\n', '[]', '{"a":', '\\"']

  expect(await tooFast(findJson, hostile)).toEqual([])
  expect(await tooFast(findBroken, hostile)).toEqual([])
})
