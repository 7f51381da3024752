import { tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { standIn } from '../../../examples/chat/stand-in.ts'
import { useChatApp } from '../../../examples/use-chat/use-chat-app.ts'
import type { ServedPage } from './chromium-page.test-helper.ts'
import {
  findings,
  hasChromium,
  heldClock,
  send,
  servePage,
  settled,
} from './chromium-page.test-helper.ts'

describe.skipIf(!hasChromium)('the page with useChat', () => {
  let served: ServedPage
  const time = heldClock()
  beforeAll(async () => {
    served = await servePage(await useChatApp(standIn(15, time)))
  })
  afterAll(() => served.close())

  test('approves in the same message, declines, and axe finds nothing', async () => {
    const { page, problems } = await served.open()
    await send(page, 'Please refund my order')
    await settled(page, 'Waits for an approval')
    const axe = await findings(page)

    await page.getByRole('button', { name: 'Approve' }).click()
    await settled(page, 'Answered')
    const approved = await page.getByRole('listitem').allTextContents()
    await send(page, 'Please refund my order')
    await page.getByRole('button', { name: 'Decline' }).click()
    await settled(page, 'Answered')

    expect(approved).toEqual([
      'You: Please refund my order',
      'Support: I can refund your order. Done: 500 euros for order A-7 were paid back.',
    ])
    expect(axe).toEqual([])
    expect(problems).toEqual([])
  })

  test('blocks, restarts, stops and answers again', async () => {
    const { page, problems } = await served.open()
    await send(page, 'My password is 1234')
    await settled(page, 'This was blocked')
    await send(page, 'Now restart')
    await settled(page, 'Answered')
    const restarted = await page.getByRole('listitem').last().textContent()
    time.holdAfter(20)
    await send(page, 'a long answer')
    await page.getByRole('listitem').last().filter({ hasText: 'word by word' }).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Answer again' }).waitFor()
    time.go()
    const stopped = await page.getByRole('listitem').last().textContent()

    await page.getByRole('button', { name: 'Answer again' }).click()
    await settled(page, 'Answered')

    expect(restarted).toBe('Support: This is the answer after a restart.')
    expect(stopped!.length).toBeLessThan(800)
    expect((await page.getByRole('listitem').last().textContent())!.length).toBeGreaterThan(850)
    expect(problems).toEqual([])
  })

  test('keeps the chat, and follows its run after a reload', async () => {
    const { page, problems } = await served.open()
    const begun = page.getByRole('listitem').nth(1).filter({ hasText: 'word by word' })
    time.holdAfter(20)
    await send(page, 'a long answer')
    await begun.waitFor()

    await page.reload()
    await begun.waitFor()
    time.go()
    await settled(page, 'Answered')

    expect(await page.getByRole('listitem').allTextContents()).toEqual([
      'You: a long answer',
      `Support: ${'A long answer takes its time, word by word. '.repeat(20)}`,
    ])
    expect(problems).toEqual([])
  })
})

describe.skipIf(!hasChromium)('a message during an answer', () => {
  test.each([
    [6, 'steer'],
    [6, 'queue'],
    [7, 'steer'],
    [7, 'queue'],
  ] as const)('is read by the run that answers: AI SDK %i, %s', async (protocol, onBusy) => {
    const work = heldTool()
    const client = scriptedClient([
      ['I look. ', callFunction('work', {}, 'c1')],
      ...(onBusy === 'queue' ? ['Found. '] : []),
      ['I hurry. ', callFunction('refund', { order: 'A-7', euros: 5 }, 'c2')],
      'Paid.',
      'Bye.',
    ])
    const served = await servePage(await useChatApp(client, { protocol, onBusy, tools: [work] }))
    try {
      const { page, problems } = await served.open()
      const items = () => page.getByRole('listitem').allTextContents()
      await send(page, 'Where is it?')
      await work.begun
      await send(page, 'Hurry, and refund it.')
      await page.getByText('You: Hurry, and refund it.').waitFor()
      work.finish()
      await settled(page, 'Waits for an approval')
      await page.getByRole('button', { name: 'Approve' }).click()
      await settled(page, 'Answered')

      const answer = `Support: I look. ${onBusy === 'queue' ? 'Found. ' : ''}I hurry. Paid.`
      const hurry = 'You: Hurry, and refund it.'
      // The page of version 6 gets an answer when it is complete, so its place is behind.
      const shown = protocol === 6 ? [hurry, answer] : [answer, hurry]
      expect(await items()).toEqual(['You: Where is it?', ...shown])
      expect(JSON.stringify(client.requests.at(-1)!.messages)).toContain('were paid back')
      await send(page, 'Thanks')
      await page.getByText('Support: Bye.').waitFor()
      await page.reload()
      await page.getByText('Support: Bye.').waitFor()
      const [before, after] = answer.split(/(?<=: .*)(?=I hurry)/)
      expect(await items()).toEqual([
        'You: Where is it?',
        before,
        hurry,
        `Support: ${after}`,
        'You: Thanks',
        'Support: Bye.',
      ])
      expect(problems).toEqual([])
    } finally {
      await served.close()
    }
  })
})

/** A tool that works until `finish()`. */
function heldTool() {
  let begin = (): void => {}
  let finish = (): void => {}
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const held = new Promise<void>((resolve) => (finish = resolve))
  const execute = async (): Promise<string> => {
    begin()
    await held
    return 'worked'
  }
  return { ...tool({ name: 'work', description: '', execute }), begun, finish }
}
