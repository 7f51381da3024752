import { callFunction, scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  foldUpdates,
  MiddlewareTermination,
  textOf,
  tool,
} from '../index.ts'
import { readUpdates } from '../run/run.test-helper.ts'

test.each([
  ['an error', new Error('cut')],
  ['no error', 'cut'],
])('a stream that ends with %s keeps what came, and who told it', async (_, error) => {
  const update = {
    contents: [{ type: 'text', text: 'Some' }],
    responseId: 'r1',
    model: 'small',
  } as const
  const client = scriptedClient([{ updates: [update], error }])

  const outcome = await new Agent({ client }).run('Hello', { stream: true }).outcome()

  expect(outcome).toMatchObject({
    status: 'failed',
    error,
    partial: { id: 'r1', model: 'small', text: 'Some', attempts: [] },
  })
})

test('a stream that ends before anything came has nothing to keep', async () => {
  const client = scriptedClient([new Error('down')])

  const outcome = await new Agent({ client }).run('Hello', { stream: true }).outcome()

  expect(outcome).toMatchObject({ status: 'failed', partial: undefined })
})

test('a stream that fails in a later round keeps what the transforms of the run made of the first', async () => {
  const shout = agentMiddleware('shout', async (context, callNext) => {
    context.transformUpdates({
      transform(update, controller) {
        const contents = update.contents.map((content) =>
          content.type === 'text' ? { ...content, text: content.text.toUpperCase() } : content,
        )
        controller.enqueue({ ...update, contents })
      },
    })
    await callNext()
  })
  const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })
  const client = scriptedClient([['Let me look.', callFunction('look')], new Error('down')])
  const agent = new Agent({ client, tools: [look], middleware: shout })

  const outcome = await agent.run('Hello', { stream: true }).outcome()

  expect(outcome).toMatchObject({ status: 'failed', partial: { text: 'LET ME LOOK.' } })
})

test('an answer of a middleware that ends the run in its middle is taken back', async () => {
  const strict = agentMiddleware('strict', async (context, callNext) => {
    context.transformUpdates({
      transform(update, controller) {
        if (textOf(update.contents) === 'Two.') throw new MiddlewareTermination('enough')
        controller.enqueue(update)
      },
    })
    await callNext()
  })
  const answering = chatMiddleware('answering', (context) => {
    context.result = {
      messages: ['One.', 'Two.'].map((contents) => ({ role: 'assistant', contents })),
    }
  })

  const { updates, response } = await readUpdates(
    new Agent({ client: scriptedClient([]), middleware: [strict, answering] }),
  )

  expect([response.status, response.messages]).toEqual(['terminated', []])
  expect(foldUpdates(updates).messages).toEqual([])
})
