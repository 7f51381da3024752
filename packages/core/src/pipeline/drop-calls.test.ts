import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { Content } from '../index.ts'
import { Agent } from '../index.ts'

describe.each(runModes)('an answer without calls, %s', (mode) => {
  const answerOf = (contents: readonly Content[]) => {
    const client = scriptedClient([
      { messages: [{ role: 'assistant', contents }], finishReason: 'tool-calls' },
    ])
    const agent = new Agent({ client, fallbackText: 'Sorry.', options: { toolChoice: 'none' } })
    return runIn(mode, agent)
  }

  it('needs no other text where the provider has made a file', async () => {
    const { text } = await answerOf([callFunction('look'), { type: 'hosted', name: 'file' }])

    expect(text).toBe('')
  })

  it('needs another text where nothing is left that a person can see', async () => {
    const { text } = await answerOf([callFunction('look'), { type: 'hosted', name: 'search' }])

    expect(text).toBe('Sorry.')
  })

  it('ends as the provider says where no call was dropped', async () => {
    const { finishReason } = await answerOf([{ ...callFunction('look'), informational: true }])

    expect(finishReason).toBe('tool-calls')
  })
})
