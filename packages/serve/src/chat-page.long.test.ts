import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redisStore } from '../../store-redis/src/index.ts'
import { chatApp } from '../../../examples/chat/chat-app.ts'
import { standIn } from '../../../examples/chat/stand-in.ts'
import type { ServedPage } from './chromium-page.test-helper.ts'
import { realServices } from '../../../tests/support/real-services.ts'
import {
  findings,
  hasChromium,
  heldClock,
  send,
  servePage,
  settled,
} from './chromium-page.test-helper.ts'

const screenshots =
  process.env['SCREENSHOTS'] === undefined
    ? undefined
    : fileURLToPath(new URL('../screenshots/', import.meta.url))

const shoot = (page: Page, name: string) =>
  screenshots === undefined ? undefined : page.screenshot({ path: `${screenshots}${name}.png` })

describe.skipIf(!hasChromium)('the page', () => {
  let served: ServedPage
  const time = heldClock()
  beforeAll(async () => {
    served = await servePage(await chatApp(standIn(20, time)))
  })
  afterAll(() => served.close())

  const open: ServedPage['open'] = (options) => served.open(options)

  test('approves with edited arguments, what the server allows', async () => {
    const { page, problems } = await open()
    await send(page, 'Please refund my order')
    await settled(page, 'Waits for an approval')
    await shoot(page, 'approval')

    await page.getByRole('button', { name: 'Approve' }).click()
    await settled(page, 'needs an employee')
    await page.getByLabel('Arguments').fill('{ "order": "A-7", "euros": 50 }')
    await page.getByRole('button', { name: 'Approve' }).click()
    await settled(page, 'Answered')

    expect(await page.getByRole('listitem').last().textContent()).toContain(
      '50 euros for order A-7 were paid back',
    )
    expect(await findings(page)).toEqual([])
    expect(problems).toEqual([])
  })

  test.each(['light', 'dark'] as const)(
    'blocks, restarts, stops and answers again (%s)',
    async (colorScheme) => {
      const { page, problems } = await open({ colorScheme })
      await send(page, 'My password is 1234')
      await settled(page, 'This was blocked')
      await send(page, 'Now restart')
      await settled(page, 'Answered')
      const restarted = await page.getByRole('listitem').last().textContent()
      time.holdAfter(20)
      await send(page, 'a long answer')
      await page.getByRole('button', { name: 'Stop' }).click()
      await settled(page, 'Stopped')
      time.go()
      const axe = await findings(page)
      await shoot(page, colorScheme)

      await page.getByRole('button', { name: 'Answer again' }).click()
      await settled(page, 'Answered')

      expect(restarted).toBe('Support: This is the answer after a restart.')
      expect(axe).toEqual([])
      expect(problems).toEqual([])
    },
  )

  test('keeps the chat, follows its run after a reload, and ends in a picture', async () => {
    const { page, problems } = await open()
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
    const picture = await page.request.get(`${served.url}picture`)
    expect(await picture.text()).toContain('support')
    expect(problems).toEqual([])
  })

  test('reads what a user says during an answer, from any tab, and shows where', async () => {
    const { page, problems } = await open()
    time.holdAfter(20)
    await send(page, 'a long answer')
    await page.getByRole('listitem').nth(1).filter({ hasText: 'word by word' }).waitFor()
    const [other] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate('void window.open(location.href)'),
    ])
    await other.getByRole('listitem').nth(1).filter({ hasText: 'word by word' }).waitFor()

    await send(page, 'Now something else')
    await page.getByRole('listitem').filter({ hasText: 'You (not read yet): Now' }).waitFor()
    await send(other, 'And restart')
    await other.getByRole('listitem').filter({ hasText: 'You (not read yet): And' }).waitFor()
    time.go()
    await settled(page, 'Answered')

    const list = await page.getByRole('listitem').allTextContents()
    const answer = `Support: ${'A long answer takes its time, word by word. '.repeat(20)}`
    expect(list.slice(0, 3)).toEqual(['You: a long answer', answer, 'You: Now something else'])
    expect(list.join()).not.toContain('not read yet')
    await page.reload()
    await page.getByRole('listitem').filter({ hasText: 'And restart' }).waitFor()
    expect(await findings(page)).toEqual([])
    expect(problems).toEqual([])
  })

  test.each([
    'reader//etc/hostname',
    'reader/file:///etc/hostname',
    'reader/..%2f..%2fpackage.json',
  ])('has no other files: %s', async (path) => {
    const response = await fetch(served.url + path)

    expect(response.status).toBe(404)
  })
})

const { own, redis } = realServices('chat_page')

describe.skipIf(!hasChromium || redis === undefined)('a page for managers', () => {
  test('answers in another process what two tabs of a customer wait for, and others see nothing', async () => {
    const secret = crypto.randomUUID()
    const stores = [0, 1].map(() => redisStore(redis!, { namespace: own }))
    const [shop, office] = await Promise.all(
      stores.map(async (store) => servePage(await chatApp(standIn(20), { store, secret }))),
    )
    const { page, problems } = await shop!.open()
    await send(page, 'Please refund my order')
    await settled(page, 'Waits for an approval')
    const [tab] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate('void window.open(location.href)'),
    ])
    await tab.getByRole('button', { name: 'Approve' }).waitFor()
    const stranger = await office!.open()
    await stranger.page.goto(`${office!.url}manager?secret=wrong`)
    await settled(stranger.page, 'Only managers see this')
    const manager = await office!.open()
    await manager.page.goto(`${office!.url}manager?secret=${secret}`)
    await settled(manager.page, '1 waiting')

    await manager.page.getByLabel('Open for').selectOption('1 hour')
    await settled(manager.page, 'Nothing waits')
    await manager.page.getByLabel('Open for').selectOption('any time')
    await manager.page.getByLabel('Tool').selectOption('refund')
    const axe = await findings(manager.page)
    await shoot(manager.page, 'manager')
    await manager.page.getByRole('button', { name: 'Approve' }).click()

    for (const one of [page, tab]) {
      await one.getByRole('listitem').filter({ hasText: '500 euros for order A-7' }).waitFor()
      expect(await one.getByRole('button', { name: 'Approve' }).count()).toBe(0)
    }
    await settled(manager.page, 'Nothing waits')
    expect(axe).toEqual([])
    expect([...problems, ...manager.problems]).toEqual([])
    await Promise.all([shop!.close(), office!.close(), ...stores.map((store) => store.close())])
  })

  test('denies, and opens by itself what comes meanwhile', async () => {
    const secret = crypto.randomUUID()
    const store = redisStore(redis!, { namespace: `${own}-denied` })
    const shop = await servePage(await chatApp(standIn(20), { store, secret }))
    const manager = await shop.open()
    await manager.page.goto(`${shop.url}manager?secret=${secret}`)
    await settled(manager.page, 'Nothing waits')
    const { page } = await shop.open()
    await send(page, 'Please refund my order')

    await manager.page.getByRole('button', { name: 'Deny' }).click()

    const told = page.getByRole('listitem').filter({ hasText: 'a manager has denied it' })
    await told.waitFor()
    expect(await told.count()).toBe(1)
    await Promise.all([shop.close(), store.close()])
  })
})
