import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import { Agent } from '@lamella/core'
import { runIn, runModes, scriptedClient } from '@lamella/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pii, presidio } from '../index.ts'

const bodies: Record<string, unknown>[] = []
let url = ''
/** Answers as an analyzer does, in Python's code points. */
// oxlint-disable-next-line typescript/no-misused-promises
const server = createServer(async (request, response) => {
  let json = ''
  for await (const piece of request) json += String(piece)
  const body = JSON.parse(json) as { text: string }
  bodies.push(body)
  const points = Array.from(body.text)
  const start = points.join('').includes('Ann') ? points.indexOf('A') : -1
  const found = start < 0 ? [] : [{ entity_type: 'PERSON', start, end: start + 3, score: 0.85 }]
  response.writeHead(request.url === '/analyze' ? 200 : 404, { 'content-type': 'application/json' })
  response.end(body.text.includes('broken') ? '{}' : JSON.stringify(found))
})
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

describe.each(runModes)('presidio, %s', (mode) => {
  it('finds names, also behind signs outside the basic plane', async () => {
    const middleware = pii({ detect: presidio({ url: `${url}/`, entities: ['PERSON'] }) })
    const agent = new Agent({
      client: scriptedClient(['\u{1f600}\u{1f600} it is Ann.']),
      middleware,
    })

    const { text } = await runIn(mode, agent)

    expect(text).toBe('\u{1f600}\u{1f600} it is [PERSON].')
    expect(bodies.at(-1)).toMatchObject({
      language: 'en',
      entities: ['PERSON'],
      score_threshold: 0.5,
    })
  })

  it('asks several services at once', async () => {
    const other = async (text: string) =>
      [...text.matchAll(/Oslo/g)].map(({ index }) => ({
        kind: 'city',
        start: index,
        end: index + 4,
        score: 1,
      }))
    const middleware = pii({ detect: [presidio({ url }), other] })
    const agent = new Agent({ client: scriptedClient(['Ann is in Oslo.']), middleware })

    const { text } = await runIn(mode, agent)

    expect(text).toBe('[PERSON] is in [CITY].')
  })
})

it.each([
  ['of another form', 'broken', ''],
  ['of an error', 'Hello', '/nowhere'],
])('an answer %s is a failure', async (_, text, path) => {
  const asked = presidio({ url: url + path })(text, { signal: new AbortController().signal })

  await expect(asked).rejects.toMatchObject({ code: 'detection_failed' })
})
