// With a schema as the response format, the provider is asked for JSON that fits it, and the answer is
// validated. Any Standard Schema works; this one is zod's.
import assert from 'node:assert/strict'
import { Agent, parseValue } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { z } from 'zod'

const invoice = z.object({
  customer: z.string(),
  total: z.number().positive(),
  lines: z.array(z.string()),
})

const client = scriptedClient([
  '{"customer":"Ada","total":42.5,"lines":["2 lamps","1 chair"]}',
  '{"customer":"Ada","total":-1}',
])
const agent = new Agent({
  client,
  instructions: 'Extract the invoice.',
  options: { responseFormat: { schema: invoice, name: 'invoice' } },
})

const good = await agent.run('Ada bought two lamps and a chair for 42.50.')
const value = await parseValue(good, invoice)
console.log(`${value.customer} owes ${value.total} for ${value.lines.join(' and ')}`)
assert.deepEqual(good.value, value)
assert.equal(value.total.toFixed(2), '42.50')

// An answer that does not fit has no value; parseValue() says why.
const bad = await agent.run('Ada got a present.')
console.log(`value: ${JSON.stringify(bad.value)}, text: ${bad.text}`)
assert.equal(bad.value, undefined)
await assert.rejects(
  parseValue(bad, invoice),
  (error: Error & { issues?: { message: string }[] }) => {
    console.log(`${error.message}: ${error.issues?.map(({ message }) => message).join('; ')}`)
    return 'code' in error && error.code === 'schema_invalid'
  },
)
