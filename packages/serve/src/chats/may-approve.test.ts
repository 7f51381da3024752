import { tool } from '@lamella/core'
import { callFunction } from '@lamella/testing'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { lastOf, refusalOf, served } from '../sse/served.test-helper.ts'

test('whoever decides sees the arguments that the tool gets', async () => {
  const paid: unknown[] = []
  const asked: unknown[] = []
  const pay = tool({
    name: 'pay',
    description: '',
    parameters: z.object({
      amount: z.number().default(5000),
      currency: z.string().transform((text) => text.trim().toUpperCase()),
    }),
    approval: 'always',
    execute: (args) => {
      paid.push(args)
      return 'paid'
    },
  })
  const { post } = served(
    [callFunction('pay', { currency: ' usd' }), 'Done.'],
    { mayApprove: ({ arguments: args }) => asked.push(args) > 0 },
    { tools: [pay] },
  )
  const [, { pending }] = await lastOf(await post({ chat: 'c1', input: 'Pay.' }))
  const [{ id }] = pending as [{ id: string }]
  const unfit = { approved: true, arguments: { amount: 'all' } }

  const refused = await post({ chat: 'c1', answers: { [id]: unfit } })
  await (await post({ chat: 'c1', answers: { [id]: true } })).text()

  expect(await refusalOf(refused)).toEqual([403, 'answer_forbidden'])
  expect(paid).toEqual([{ amount: 5000, currency: 'USD' }])
  expect(new Set(asked.map((args) => JSON.stringify(args)))).toEqual(
    new Set([JSON.stringify(paid[0])]),
  )
})
