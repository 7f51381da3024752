// Named events instead of nested functions: one hook adds memory before each iteration, one ends the run when
// tools fail too often, and one reports at the end.
import assert from 'node:assert/strict'
import { Agent, defineState, tool } from '@lamella/core'
import { lifecycle } from '@lamella/lifecycle'
import { callFunction, scriptedClient } from '@lamella/testing'

const failures = defineState({ name: 'failures', initial: () => 0 })

const memory = lifecycle({
  name: 'memory',
  beforeIteration(context) {
    context.instructions = `${context.instructions ?? ''}\nThe user likes tea.`.trim()
  },
})
const strikes = lifecycle({
  name: 'strikes',
  afterFunction({ run, exception }) {
    if (exception !== undefined) run.state.update(failures, (count) => count + 1)
  },
  beforeIteration({ run }) {
    if (run.state.get(failures) >= 2)
      run.stop('too many errors', { response: 'The kettle is broken.' })
  },
})
const told: string[] = []
const report = lifecycle({
  name: 'report',
  onError: ({ source, iteration }) => void told.push(`${source} in iteration ${iteration}`),
  afterTurn: ({ result }) => console.log(`${result?.status}: ${result?.text} (${told.join(', ')})`),
})

const kettle = tool({
  name: 'boil',
  description: 'Boils water.',
  execute: () => {
    throw new Error('no water')
  },
})
const client = scriptedClient([callFunction('boil'), callFunction('boil')])
const agent = new Agent({ client, tools: [kettle], middleware: [report, memory, strikes] })
const response = await agent.run('Make me something to drink.')

assert.equal(response.status, 'terminated')
assert.equal(response.text, 'The kettle is broken.')
assert.equal(client.requests[0]?.instructions, 'The user likes tea.')
assert.deepEqual(told, ['tool in iteration 0', 'tool in iteration 1'])
