// A tool that only reads runs once for the same arguments, even for two calls of one batch.
import assert from 'node:assert/strict'
import { Agent, tool } from '@lamella/core'
import { toolCache } from '@lamella/middleware-cache'
import { callFunction, scriptedClient } from '@lamella/testing'
import { z } from 'zod'

const ran: string[] = []
const weather = tool({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  parameters: z.object({ city: z.string() }),
  readOnly: true,
  execute: ({ city }) => {
    ran.push(city)
    return `sunny in ${city}`
  },
})
const book = tool({
  name: 'book_table',
  description: 'Books a table.',
  execute: () => {
    ran.push('a table')
    return 'booked'
  },
})

const rounds = [
  [callFunction('get_weather', { city: 'Rome' }), callFunction('get_weather', { city: 'rome' })],
  [callFunction('get_weather', { city: 'Rome' }), callFunction('book_table')],
  [callFunction('book_table')],
]
const client = scriptedClient([...rounds, 'Sunny, and you have two tables.'])
const agent = new Agent({
  client,
  tools: [weather, book],
  middleware: toolCache({
    ttlMs: 600_000,
    tools: { get_weather: { key: ({ arguments: args }) => String(args['city']).toLowerCase() } },
    onEvent: ({ outcome }) => console.log('tool cache:', outcome),
  }),
})

const { text } = await agent.run('How is Rome? Book a table, twice.')
console.log(text, ran)

assert.deepEqual(ran, ['Rome', 'a table', 'a table'])
