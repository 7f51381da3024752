import { Agent } from '@lamella/core'
import { assertChunkInvariant, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { contentFilter } from '../filter/content-filter.ts'

const filter = () =>
  contentFilter({ words: ['swordfish', 'blue heron'], action: 'replace', replacement: '*' })

async function filtered(answer: string): Promise<string> {
  const { text } = await new Agent({
    client: scriptedClient([answer]),
    middleware: filter(),
  }).run('Hi')
  return text
}

test.each([
  ['sword<b></b>fish', '*'],
  ['<i>sword</i><b class="x">fish</b>', '<i>*</b>'],
  ['sword<!-- a > b -->fish', '*'],
  ['&#115;word&#x66;ish', '*'],
  ['sword&amp;#102;ish', '*'],
  ['blue&nbsp;<em>heron</em>', '*</em>'],
  ['blue <i></i> <em> heron</em>', '*</em>'],
  ['<p>blue</p> <b>swordfish</b>', '<p>blue</p> <b>*</b>'],
  ['blue <br>heron', 'blue <br>heron'],
  ['sword<p>fish', 'sword<p>fish'],
])('a word in markup is found: %s', async (answer, expected) => {
  expect(await filtered(`It is ${answer}.`)).toBe(`It is ${expected}.`)
})

test('a word in markup is found in an input', async () => {
  const middleware = contentFilter({ words: ['swordfish'] })
  const client = scriptedClient(['Done.'])

  const { status } = await new Agent({ client, middleware }).run('sword<b></b>fish')

  expect(status).toBe('blocked')
})

test('any answer has one result, however it is cut', async () => {
  const pieces =
    'sword|fish|blue |heron|<b>|</b>|<i class="|">|<!--|-->|&|amp;|#115;|&#102;|&nbsp;| |<|x|word word word '
  const answers = fc
    .array(fc.constantFrom(...pieces.split('|')), { minLength: 1, maxLength: 30 })
    .map((all) => all.join(''))
  await fc.assert(
    fc.asyncProperty(answers, fc.nat(), async (answer, seed) => {
      await assertChunkInvariant(filter, { replies: [answer], chunkings: ['char', { seed }] })
    }),
    { numRuns: 100 },
  )
})
