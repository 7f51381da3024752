import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type { Clock } from '@lamella/core/authoring'
import { systemClock } from '@lamella/core/authoring'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import type { Handler } from './chats/guarded-handler.ts'
import { toNode } from './node/to-node.ts'

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

const require = createRequire(import.meta.url)
const { findChromium } = require('../../../scripts/runtimes/chromium.mjs') as {
  readonly findChromium: (options: { readonly install: boolean }) => string | undefined
}
const isCI = process.env['CI'] === 'true'
const executablePath = process.env['CHROMIUM_PATH'] || findChromium({ install: isCI })
if (executablePath === undefined && isCI) throw new Error('there is no Chromium on the PATH')
if (executablePath === undefined) console.warn('SKIPPED, there is no Chromium: set CHROMIUM_PATH')

/** True if there is a browser for the tests of pages. */
export const hasChromium: boolean = executablePath !== undefined

/** For pages that hang: on a machine with other work, a step takes many times as long. */
const patienceMs = 120_000

/** A service in a browser. */
export interface ServedPage {
  readonly url: string
  /** Opens the page. Errors of its scripts come into `problems`. */
  open(options?: BrowserContextOptions): Promise<{ page: Page; problems: string[] }>
  close(): Promise<void>
}

/** A clock whose time stands still on request, so that an answer waits in its middle for what a user does. */
export interface HeldClock extends Clock {
  /** Lets time stand still after so many waits, until `go`. */
  holdAfter(waits: number): void
  go(): void
}

/** Creates one. Before it is held, it is the clock of the machine. */
export function heldClock(): HeldClock {
  let left = Infinity
  let released = Promise.resolve()
  let release = (): void => {}
  return {
    now: () => systemClock.now(),
    async sleep(ms, signal) {
      await systemClock.sleep(ms, signal)
      if (--left < 0) await released
    },
    holdAfter(waits) {
      left = waits
      released = new Promise((resolve) => (release = resolve))
    },
    go() {
      left = Infinity
      release()
    },
  }
}

/** Serves a page on this machine, for a headless Chromium. */
export async function servePage(handler: Handler): Promise<ServedPage> {
  const server = createServer(toNode(handler))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking']
  const browser: Browser = await chromium.launch({ executablePath: executablePath!, args })
  return {
    url,
    open: async (options = {}) => {
      const page = await browser.newPage({ viewport: { width: 720, height: 640 }, ...options })
      const problems: string[] = []
      page.on('pageerror', ({ message }) => problems.push(message))
      page.context().setDefaultTimeout(patienceMs)
      await page.goto(url)
      return { page, problems }
    },
    close: async () => {
      await browser.close()
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Sends a message of the user. */
export async function send(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.keyboard.press('Enter')
}

/** Waits until the status line says these words. */
export async function settled(page: Page, words: string): Promise<void> {
  await page.getByRole('status').filter({ hasText: words }).waitFor()
}

/** Finds what keeps people out, with axe. */
export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(require.resolve('axe-core/axe.min.js'), 'utf8'))
  return page.evaluate<string[]>(`axe.run().then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`)
}
