import { scriptedClient } from '@lamella/testing'
import { expect, it } from 'vitest'
import { Agent, tool } from '../index.ts'
import { mergeChatOptions } from './chat-options.ts'

const [look, find, read] = ['look', 'find', 'read'].map((name) => tool({ name, description: '' }))

it('tools of merged options are joined, each once', () => {
  const base = { tools: [look!, find!] }

  expect(mergeChatOptions(base, { tools: [find!, read!] }).tools).toEqual([look, find, read])
  expect(mergeChatOptions(base, { seed: 1 }).tools).toEqual([look, find])
  expect(mergeChatOptions({ seed: 1 }, base).tools).toEqual([look, find])
})

it.each(['any', 1, { mode: 'auto', functionName: 'look' }, { mode: 'required' }])(
  'a tool choice that no client knows is refused: %o',
  async (toolChoice) => {
    const client = scriptedClient([])
    const agent = new Agent({
      client,
      tools: [look!],
      options: { toolChoice: toolChoice as 'auto' },
    })

    await expect(agent.run('Hello')).rejects.toThrow(/`toolChoice` must be 'auto'/)
    expect(client.requests).toEqual([])
  },
)
