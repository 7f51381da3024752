import { scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import type { ChatContext } from '../index.ts'
import { Agent, agentMiddleware, chatMiddleware } from '../index.ts'
import { chatPipeline } from '../authoring.ts'

test('a handler has the client of the call, and the signal of its request', async () => {
  const late = new Error('late')
  const contexts: ChatContext[] = []
  let giveUp!: (error: Error) => void
  const given = new Promise((_, reject) => (giveUp = reject))
  const impatient = chatMiddleware('impatient', async (_, callNext) => {
    await Promise.race([callNext(), given])
  })
  const client = scriptedClient([])
  const running = chatPipeline(impatient).execute({ client, messages: 'Hi' }, (context) => {
    contexts.push(context)
    giveUp(late)
    return new Promise(() => {})
  })

  await expect(running).rejects.toBe(late)

  expect(contexts.map(({ client: its }) => its)).toEqual([client])
  expect(contexts.map(({ signal }) => signal.reason as unknown)).toEqual([late])
})

test('a handler that registers what is no transformer is told so', async () => {
  const running = chatPipeline([]).execute(
    { client: scriptedClient([]), messages: 'Hi' },
    (context) => {
      context.transformUpdates('upper case' as never)
      return 'Hi'
    },
  )

  await expect(running).rejects.toMatchObject({
    middleware: '',
    message: 'called transformUpdates() without an object that has `start`, `transform` or `flush`',
  })
})

test('a call of a run begins no middleware once the signal that it was given has aborted', async () => {
  const entered: string[] = []
  const client = scriptedClient(['Hi.'])
  const inner = chatMiddleware('inner', (_, callNext) => {
    entered.push('inner')
    return callNext()
  })
  const ownLoop = agentMiddleware('own-loop', async ({ run, messages }) => {
    await chatPipeline(inner).execute({
      client,
      messages,
      run,
      signal: AbortSignal.abort('enough'),
    })
  })

  await expect(new Agent({ client, middleware: ownLoop }).run('Hi')).rejects.toBe('enough')

  expect([entered, client.requests]).toEqual([[], []])
})
