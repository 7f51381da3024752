import { describe, expect, it } from 'vitest'
import type { Message, ToolDefinition } from '@lamella/core'
import { hostedTool, jsonSchema, message, text, tool } from '@lamella/core'
import { messageTokens, requestTokens } from './request-tokens.ts'

const characters = (words: string): number => words.length

describe('the tokens of a request', () => {
  it('count texts, thoughts, calls, results, media and a few for each message', () => {
    const messages: Message[] = [
      message('user', [text('12345'), { type: 'uri', uri: 'https://example.com/a.png' }]),
      message('assistant', [
        { type: 'reasoning', text: '123' },
        { type: 'function-call', callId: 'c', name: 'ab', arguments: '{}' },
      ]),
      message('tool', { type: 'function-result', callId: 'c', contents: [text('1')] }),
    ]

    expect(messages.map((entry) => messageTokens(entry, characters))).toEqual([1009, 12, 9])
    expect(requestTokens({ messages }, characters)).toBe(1030)
  })

  it('count instructions, tools and the schema of the answer', () => {
    const tools: ToolDefinition[] = [
      tool({ name: 'work', description: 'Works.' }),
      hostedTool('search', { deep: true }),
    ]
    const schema = jsonSchema({ type: 'object' })

    const count = (more: object): number => requestTokens({ messages: [], ...more }, characters)

    expect(count({ instructions: 'Be brief.' })).toBe(9)
    expect(count({ tools })).toBe(
      'work Works. {"type":"object","properties":{}}'.length + 'search {"deep":true}'.length,
    )
    expect(count({ responseFormat: { schema } })).toBe('{"type":"object"}'.length)
    expect(count({ responseFormat: 'json' })).toBe(0)
  })
})
