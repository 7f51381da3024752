import { callFunction, scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import type { Content, Message } from '@lamella/core'
import { Agent, errorResult, message } from '@lamella/core'
import { guardrail } from './index.ts'

const replacing = () =>
  guardrail({
    name: 'words',
    applyTo: ['input'],
    unsupported: 'allow',
    check: ({ text }) => {
      const start = text.indexOf('secret')
      if (start < 0) return { action: 'allow' }
      return { action: 'replace', spans: [{ start, end: start + 6, replacement: '***' }] }
    },
  })

const file = { type: 'data', mediaType: 'image/png', data: 'AAAA' } as const
const withContent = (content: Content): Message =>
  message('user', [{ type: 'text', text: 'Hi' }, content])

test.each<[string, ...Message[]]>([
  ['the name of a file', withContent({ ...file, name: 'secret.png' })],
  ['an address', withContent({ type: 'uri', uri: 'https://a.example/secret.png' })],
  [
    'the error of a tool',
    message('assistant', [callFunction('f', {}, 'c1')]),
    message('tool', [
      { type: 'function-result', callId: 'c1', ...errorResult('tool_failed', 'secret') },
    ]),
  ],
  ['the name of an author', { ...message('user', 'Hi'), authorName: 'secret' }],
])('%s is judged like text', async (_, ...input) => {
  const client = scriptedClient(['Done.'])

  const { status } = await new Agent({ client, middleware: replacing() }).run(input)

  expect(status).toBe('completed')
  expect(JSON.stringify(client.requests)).toContain('***')
  expect(JSON.stringify(client.requests)).not.toContain('secret')
})
