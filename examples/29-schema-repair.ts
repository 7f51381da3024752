// An answer must fit a schema. Almost valid JSON is repaired locally; an answer that breaks a rule is sent
// back to the model with the problem and its location.
import assert from 'node:assert/strict'
import { Agent, parseValue } from '@lamella/core'
import type { SchemaEvent } from '@lamella/middleware-schema'
import { partialValues, schemaValidator } from '@lamella/middleware-schema'
import { scriptedClient } from '@lamella/testing'
import { z } from 'zod'

const invoice = z.object({ customer: z.string(), total: z.number(), lines: z.array(z.string()) })

const client = scriptedClient(
  [
    "Here you are: {customer: 'Ada', total: '42.5', lines: ['2 lamps'],}",
    '{"customer":"Ben","total":-1,"lines":[]}',
    '{"customer":"Ben","total":7,"lines":["1 bulb"]}',
  ],
  { chunk: 16 },
)
const events: SchemaEvent[] = []
const agent = new Agent({
  client,
  instructions: 'Extract the invoice.',
  middleware: schemaValidator({
    schema: invoice,
    repair: ['extract', 'json-repair', 'coerce', 're-ask'],
    refine: ({ total }) =>
      total < 0 ? [{ message: 'must not be negative', path: ['total'] }] : undefined,
    onFailure: 'throw',
    onEvent: (event) => events.push(event),
  }),
})

const first = await parseValue(await agent.run('Ada bought two lamps for 42.50.'), invoice)
console.log(`${first.customer} owes ${first.total}`)
assert.equal(first.total, 42.5)

const stream = agent.run('Ben bought a bulb for 7.', { stream: true })
for await (const value of partialValues(stream)) console.log('so far:', value)
const second = await stream.finalResponse()
assert.deepEqual(second.value, { customer: 'Ben', total: 7, lines: ['1 bulb'] })
assert.match(JSON.stringify(client.requests[2]?.messages), /total: must not be negative/)

console.log(events.map(({ by, action }) => `${action} ${by ?? ''}`.trim()))
assert.deepEqual(
  events.map(({ action }) => action),
  ['repaired', 're-ask', 'none'],
)
