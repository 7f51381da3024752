// A function middleware wraps every tool call. It may change the arguments (they are validated again),
// change the result, or answer without running the tool.
import assert from 'node:assert/strict'
import { Agent, functionMiddleware, textOf, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { z } from 'zod'

const log = functionMiddleware('log', async (context, callNext) => {
  const name = context.function.name
  console.log(`→ ${name} ${JSON.stringify(context.arguments)}`)
  const result = await callNext()
  console.log(`← ${name} ${textOf(result.contents)}`)
})

const tidy = functionMiddleware('tidy', async (context, callNext) => {
  const { city } = context.arguments
  if (typeof city === 'string') context.arguments = { ...context.arguments, city: city.trim() }
  await callNext()
})

const holidays = functionMiddleware('holidays', async (context, callNext) => {
  if (context.function.name === 'book') context.result = 'No bookings on a holiday.'
  else await callNext()
})

let booked = 0
const parameters = z.object({ city: z.string() })
const weather = tool({
  name: 'weather',
  description: 'Tells the weather.',
  parameters,
  execute: ({ city }) => `sunny in "${city}"`,
})
const book = tool({
  name: 'book',
  description: 'Books a trip.',
  parameters,
  execute: () => `booking ${++booked}`,
})
const client = scriptedClient([
  [callFunction('weather', { city: ' Rome  ' }), callFunction('book', { city: 'Rome' })],
  'It is sunny, but I could not book.',
])
const agent = new Agent({ client, tools: [weather, book], middleware: [log, tidy, holidays] })
const response = await agent.run('Book me a trip to Rome if the weather is good.')

console.log(response.text)
const read = client.requests[1]?.messages
  .at(-1)
  ?.contents.map((content) => (content.type === 'function-result' ? textOf(content.contents) : ''))
assert.deepEqual(read, ['sunny in "Rome"', 'No bookings on a holiday.'])
assert.equal(booked, 0)
