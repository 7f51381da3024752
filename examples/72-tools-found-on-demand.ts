// An agent with many tools shows the model only a search. What the search finds is visible from then on. A
// found tool may end the run with its result, and a tool that the search has not shown can still be called.
import assert from 'node:assert/strict'
import { Agent, tool, toolSearch } from '@lamella/core'
import { lifecycle } from '@lamella/lifecycle'
import { callFunction, scriptedClient } from '@lamella/testing'

const cities = ['Rome', 'Oslo', 'Lima']
const weather = cities.map((city) =>
  tool({
    name: `weather_in_${city.toLowerCase()}`,
    description: `Weather in ${city}.`,
    execute: () => `sunny in ${city}`,
  }),
)
const time = tool({ name: 'time', description: 'The time.', execute: () => '12:00' })
const client = scriptedClient([
  callFunction('time'),
  callFunction('tool_search', { query: '+oslo weather' }),
  callFunction('weather_in_oslo'),
])
const agent = new Agent({
  client,
  tools: [toolSearch(), ...weather],
  functionInvocation: { additionalTools: [time] },
  middleware: lifecycle({
    name: 'defer',
    beforeTurn({ run }) {
      for (const { name } of weather) {
        run.tools.defer(name)
        run.tools.setReturnDirect(name, true)
      }
    },
  }),
})

const { text } = await agent.run('How is the weather in Oslo?')
const offered = client.requests.map(({ options }) => options.tools?.map(({ name }) => name))
console.log(offered.map((names) => names?.join(', ')).join('\n'))
console.log(text)

assert.equal(text, 'sunny in Oslo')
assert.deepEqual(offered, [['tool_search'], ['tool_search'], ['tool_search', 'weather_in_oslo']])
