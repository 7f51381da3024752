// agentTool() makes a tool of an agent, so another agent can delegate work to it. Each has its own middleware,
// and the usage of the inner agent also counts toward the outer one.
import assert from 'node:assert/strict'
import { Agent, agentMiddleware, agentTool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'

const trace = agentMiddleware('trace', async ({ run }, callNext) => {
  const indent = '  '.repeat(run.depth)
  console.log(`${indent}→ ${run.agentName}`)
  const { text } = await callNext()
  console.log(`${indent}← ${run.agentName}: ${text}`)
})

const researcher = new Agent({
  name: 'researcher',
  description: 'Finds facts.',
  instructions: 'Answer with one fact.',
  client: scriptedClient(['Rome was founded in 753 BC.']),
  middleware: [trace],
})

const shown: string[] = []
const writer = new Agent({
  name: 'writer',
  client: scriptedClient([
    callFunction('researcher', { task: 'When was Rome founded?' }),
    'Legend says that Rome was founded in 753 BC.',
  ]),
  tools: [
    agentTool(researcher, {
      onUpdate: ({ contents }) => {
        for (const content of contents) if (content.type === 'text') shown.push(content.text)
      },
    }),
  ],
  middleware: [trace],
})

const response = await writer.run('Write a sentence about the founding of Rome.')
console.log(response.text)
console.log(`${response.usage.totalTokens} tokens for both`)

assert.match(response.text, /753 BC/)
assert.equal(shown.join(''), 'Rome was founded in 753 BC.')
// Two calls of the writer's model and one of the researcher's.
assert.equal(response.usage.totalTokens, 45)
