import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chatApp } from '../../../examples/chat/chat-app.ts'
import { supportAgent } from '../../../templates/app/src/agent.ts'
import { memoryOrders } from '../../../templates/app/src/orders.ts'
import { supportChats, supportService } from '../../../templates/app/src/service.ts'
import { standIn } from '../../../templates/app/src/stand-in.ts'
import { memoryStore } from '../../core/src/index.ts'
import type { ServedPage } from '../../serve/src/chromium-page.test-helper.ts'
import { hasChromium, servePage, settled } from '../../serve/src/chromium-page.test-helper.ts'

describe.skipIf(!hasChromium)('the page of a new app', () => {
  let served: ServedPage
  beforeAll(async () => {
    const agent = supportAgent({
      client: standIn(1),
      store: memoryStore(),
      orders: memoryOrders(),
    })
    const secret = 'a secret of this test'
    const app = supportService(supportChats(agent, secret), secret)
    // A checkout has the sources of the reader, which the page of the example knows how to serve.
    const sources = await chatApp(standIn(1))
    const type = { 'content-type': 'text/javascript' }
    served = await servePage(async (request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/reader/client.js')
        return new Response(`export * from '/reader/client.ts'`, { headers: type })
      return pathname.startsWith('/reader/') ? sources(request) : app(request)
    })
  })
  afterAll(() => served.close())

  test.each([
    [360, 'light'],
    [768, 'dark'],
    [1280, 'light'],
  ] as const)(
    'greets, pays the first refund, and names chats in words: %i px, %s',
    async (width, colorScheme) => {
      const { page, problems } = await served.open({
        viewport: { width, height: 740 },
        colorScheme,
      })
      const greeting = page.getByRole('region', { name: 'Suggestions' })
      await greeting.waitFor()
      const offered = await greeting.getByRole('button').allInnerTexts()
      await greeting.getByRole('button', { name: 'Refund my teapot' }).click()
      await page.getByRole('button', { name: 'Approve' }).click()
      await settled(page, 'Answered')

      expect(offered).toHaveLength(3)
      expect(await page.getByRole('listitem').last().textContent()).toContain('were paid back')
      expect(await page.getByLabel('Earlier chats').inputValue()).toMatch(/^[a-z]+-[a-z]+-\d+$/)
      const root = 'document.documentElement'
      expect(await page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`)).toBe(0)
      expect(problems).toEqual([])
    },
  )
})
