import { runModes, scriptedClient } from '@lamella/testing'
import { expect, test, vi } from 'vitest'
import type { ChatClient, Message } from '../index.ts'
import { chatMiddleware, withMiddleware } from '../index.ts'

test('a client with more middlewares has the configuration of its own, and treats history as it does', () => {
  const losses = ['the reasoning']
  const strict: ChatClient = Object.assign(scriptedClient([]), {
    fingerprint: 'eu-1',
    prepareHistory: (messages: readonly Message[]) => messages.slice(1),
    canContinue: () => ({ ok: false, losses }),
  })
  const pass = chatMiddleware('pass', (_, callNext) => callNext())
  const messages: readonly Message[] = ['a', 'b'].map((id) => ({ id, role: 'user', contents: [] }))

  const client = withMiddleware(strict, pass)

  expect(client.fingerprint).toBe('eu-1')
  expect(client.prepareHistory?.(messages).map(({ id }) => id)).toEqual(['b'])
  expect(client.canContinue?.(messages)).toEqual({ ok: false, losses })
})

test.each(runModes)(
  'a signal that has aborted before the call reaches no middleware, %s',
  async (mode) => {
    const entered = vi.fn<() => void>()
    const pass = chatMiddleware('pass', (_, callNext) => {
      entered()
      return callNext()
    })
    const client = withMiddleware(scriptedClient(['Hi.']), pass)

    const signal = AbortSignal.abort('enough')
    const settled =
      mode === 'plain'
        ? client.getResponse([], { signal })
        : client.getResponse([], { signal, stream: true })[Symbol.asyncIterator]().next()

    await expect(settled).rejects.toBe('enough')
    expect(entered).not.toHaveBeenCalled()
  },
)
