import { Agent, LamellaError } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { afterEach, expect, it, vi } from 'vitest'
import { chatService } from '../index.ts'
import { sseHandler } from '../sse.ts'

afterEach(() => void vi.restoreAllMocks())

it('the log of the server says why a run failed, in one line, and the client learns the code only', async () => {
  const lines: unknown[] = []
  vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(line))
  const problem = new LamellaError('budget: there is no price\nfor the model m', {
    code: 'price_unknown',
  })
  const agent = new Agent({ client: scriptedClient([problem]) })
  const handler = sseHandler(chatService(agent, { principal: () => 'ann' }))

  const response = await handler(
    new Request('https://desk.example/chat', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ chat: 'c', input: 'Hi' }),
    }),
  )

  expect(await response.text()).not.toContain('no price')
  expect(lines).toEqual([
    'serve: the run failed (price_unknown): LamellaError: budget: there is no price for the model m',
  ])
})
