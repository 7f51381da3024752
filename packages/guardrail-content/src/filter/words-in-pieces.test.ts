import { Agent, tool } from '@lamella/core'
import type { ChatResponseUpdate } from '@lamella/core'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { contentFilter } from '../index.ts'

const look = tool({ name: 'look', description: 'Looks.', readOnly: true, execute: () => 'seen' })

const piece = (messageId: string, text: string): ChatResponseUpdate => ({
  role: 'assistant',
  messageId,
  contents: [{ type: 'text', text }],
})

const answers = {
  'two contents': [
    {
      updates: [
        {
          ...piece('a', 'A sword'),
          contents: [
            { type: 'text', text: 'A sword' },
            { type: 'text', text: 'fish.' },
          ],
        },
      ],
    },
  ],
  'two messages': [{ updates: [piece('a', 'A sword'), piece('b', 'fish.')] }],
  'two model calls': [['A sword', callFunction('look')], 'fish.'],
} as const

describe.each(Object.entries(answers))('a word in %s', (_, replies) => {
  describe.each(['agent', 'chat'] as const)('at %s level', (level) => {
    test.each(runModes)('is replaced: %s', async (mode) => {
      const middleware = contentFilter({ words: ['swordfish'], action: 'replace', level })
      const agent = new Agent({ client: scriptedClient([...replies]), tools: [look], middleware })

      const { status, text } = await runIn(mode, agent)

      expect(status).toBe('completed')
      expect(text).toContain('A ')
      expect(text).not.toContain('swordfish')
      expect(text).not.toContain('fish')
    })

    test.each(runModes)('blocks the run: %s', async (mode) => {
      const middleware = contentFilter({ words: ['swordfish'], level })
      const agent = new Agent({ client: scriptedClient([...replies]), tools: [look], middleware })

      const response = await runIn(mode, agent)

      expect(response.status).toBe('blocked')
      expect(response.text).not.toContain('fish')
    })
  })
})
