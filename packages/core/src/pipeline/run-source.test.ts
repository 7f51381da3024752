import { scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import { Agent } from '../index.ts'

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
