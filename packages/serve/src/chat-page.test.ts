import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chatApp } from '../../../examples/chat/chat-app.ts'
import { standIn } from '../../../examples/chat/stand-in.ts'
import { toNode } from './node/to-node.ts'

const require = createRequire(import.meta.url)
const { findChromium } = require('../../../scripts/runtimes/chromium.mjs') as {
  readonly findChromium: (options: { readonly install: boolean }) => string | undefined
}
const isCI = process.env['CI'] === 'true'
const executablePath = process.env['CHROMIUM_PATH'] || findChromium({ install: isCI })
if (executablePath === undefined && isCI) throw new Error('there is no Chromium on the PATH')
if (executablePath === undefined) console.warn('SKIPPED, there is no Chromium: set CHROMIUM_PATH')

declare global {
  // Types of Playwright name these.
  interface Node {
    readonly nodeType: number
  }
  interface HTMLElement extends Node {
    getAttribute(name: string): string | null
  }
  interface SVGElement extends Node {
    getAttribute(name: string): string | null
  }
}

const screenshots =
  process.env['SCREENSHOTS'] === undefined
    ? undefined
    : fileURLToPath(new URL('../screenshots/', import.meta.url))

describe.skipIf(executablePath === undefined)('the page', () => {
  let browser: Browser
  let url = ''
  const server = createServer()

  beforeAll(async () => {
    server.on('request', toNode(await chatApp(standIn(20))))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking']
    browser = await chromium.launch({ executablePath: executablePath!, args })
  }, 60_000)
  afterAll(async () => {
    await browser.close()
    server.closeAllConnections()
    server.close()
  })

  const open = async (
    options: BrowserContextOptions = {},
  ): Promise<{ page: Page; problems: string[] }> => {
    const page = await browser.newPage({ viewport: { width: 720, height: 640 }, ...options })
    const problems: string[] = []
    page.on('pageerror', ({ message }) => problems.push(message))
    await page.goto(url)
    return { page, problems }
  }
  const send = async (page: Page, text: string): Promise<void> => {
    await page.getByLabel('Message', { exact: true }).fill(text)
    await page.keyboard.press('Enter')
  }
  const settled = (page: Page, words: string) =>
    page.getByRole('status').filter({ hasText: words }).waitFor()
  const shoot = (page: Page, name: string) =>
    screenshots === undefined ? undefined : page.screenshot({ path: `${screenshots}${name}.png` })
  const findings = async (page: Page): Promise<string[]> => {
    await page.evaluate(await readFile(require.resolve('axe-core/axe.min.js'), 'utf8'))
    return page.evaluate<string[]>(`axe.run().then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`)
  }

  test('approves with edited arguments, what the server allows', async () => {
    const { page, problems } = await open()
    await send(page, 'Please refund my order')
    await settled(page, 'Waits for an approval')
    await shoot(page, 'approval')

    await page.getByRole('button', { name: 'Approve' }).click()
    await settled(page, 'You may not approve this')
    await page.getByLabel('Arguments').fill('{ "order": "A-7", "euros": 50 }')
    await page.getByRole('button', { name: 'Approve' }).click()
    await settled(page, 'Answered')

    expect(await page.getByRole('listitem').last().textContent()).toContain(
      '50 euros for order A-7 were paid back',
    )
    expect(await findings(page)).toEqual([])
    expect(problems).toEqual([])
  }, 30_000)

  test.each(['light', 'dark'] as const)(
    'blocks, restarts, stops and answers again (%s)',
    async (colorScheme) => {
      const { page, problems } = await open({ colorScheme })
      await send(page, 'My password is 1234')
      await settled(page, 'This was blocked')
      await send(page, 'Now restart')
      await settled(page, 'Answered')
      const restarted = await page.getByRole('listitem').last().textContent()
      await send(page, 'a long answer')
      await page.getByRole('button', { name: 'Stop' }).click()
      await settled(page, 'Stopped')
      const axe = await findings(page)
      await shoot(page, colorScheme)

      await page.getByRole('button', { name: 'Answer again' }).click()
      await settled(page, 'Answered')

      expect(restarted).toBe('Support: This is the answer after a restart.')
      expect(axe).toEqual([])
      expect(problems).toEqual([])
    },
    30_000,
  )

  test('keeps the chat, follows its run after a reload, and ends in a picture', async () => {
    const { page, problems } = await open()
    await send(page, 'a long answer')
    await page.getByRole('listitem').nth(1).filter({ hasText: 'word by word' }).waitFor()

    await page.reload()
    await settled(page, 'Answered')

    expect(await page.getByRole('listitem').allTextContents()).toEqual([
      'You: a long answer',
      `Support: ${'A long answer takes its time, word by word. '.repeat(20)}`,
    ])
    const picture = await page.request.get(`${url}picture`)
    expect(await picture.text()).toContain('support')
    expect(problems).toEqual([])
  }, 30_000)

  test.each([
    'reader//etc/hostname',
    'reader/file:///etc/hostname',
    'reader/..%2f..%2fpackage.json',
  ])('has no other files: %s', async (path) => {
    const response = await fetch(url + path)

    expect(response.status).toBe(404)
  })
})
