import { Agent, agentTool, jsonSchema, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { PiiOptions } from './index.ts'
import { pii } from './index.ts'

const ann = 'ann@example.com'
const bob = 'bob@example.com'

/** An agent with `pii()`, and a sub-agent without it that looks something up and mails. */
function family(options: PiiOptions, words: (request: string) => string = () => 'Done.') {
  const got: unknown[] = []
  const look = tool({ name: 'look', description: '', execute: () => `It is ${bob}.` })
  const mail = tool({
    name: 'mail',
    description: '',
    parameters: jsonSchema({ type: 'object', properties: { to: { type: 'string' } } }),
    execute: ({ to }) => void got.push(to),
  })
  const inside = scriptedClient([
    callFunction('look', {}, 'l'),
    ({ messages }) => {
      const found = JSON.stringify(messages)
        .match(/<EMAIL_\d+>/g)
        ?.at(-1)
      return callFunction('mail', { to: found }, 'm')
    },
    ({ messages }) => words(JSON.stringify(messages)),
  ])
  const helper = new Agent({ name: 'helper', client: inside, tools: [look, mail] })
  const outside = scriptedClient([
    ({ messages }) =>
      callFunction('helper', { task: `Mail ${JSON.stringify(messages).match(/<\w+>/)?.[0]}.` }),
    'Sent.',
  ])
  const agent = new Agent({
    client: outside,
    tools: [agentTool(helper)],
    middleware: pii(options as never),
  })
  return { agent, got, inside, outside }
}

describe.each([false, true])('a sub-agent of an agent with pii(), with stream: %s', (stream) => {
  const run = (agent: Agent) =>
    stream ? agent.run(`I am ${ann}.`, { stream: true }).finalResponse() : agent.run(`I am ${ann}.`)

  it('reads no data, and says none', async () => {
    const { agent, inside, outside } = family({}, () => `She is ${bob}.`)

    await run(agent)

    const sent = JSON.stringify([inside.requests, outside.requests])
    expect(sent).not.toContain('@example.com')
    expect(sent).toContain('It is [EMAIL].')
  })

  it('works with placeholders of its own, whose values its tools get', async () => {
    const { agent, got, inside, outside } = family({ vault: true })

    await run(agent)

    expect(got).toEqual([bob])
    expect(JSON.stringify([inside.requests, outside.requests])).not.toContain('@example.com')
  })
})
