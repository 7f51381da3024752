import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, describe } from 'vitest'
import { pictureOf } from './views/picture-of.ts'

const require = createRequire(import.meta.url)
const { findChromium } = require('../../../scripts/runtimes/chromium.mjs') as {
  readonly findChromium: (options: { readonly install: boolean }) => string | undefined
}

const isCI = process.env['CI'] === 'true'
/** Chromium of this machine: `CHROMIUM_PATH`, else what is on the `PATH`. CI installs one. */
const executablePath = process.env['CHROMIUM_PATH'] || findChromium({ install: isCI })

if (executablePath === undefined) {
  const words = 'there is no Chromium on the PATH'
  if (isCI) throw new Error(words)
  console.warn(`SKIPPED, ${words}: set CHROMIUM_PATH`)
}

/** Skips where there is no browser. In CI there must be one. */
export const describeInBrowser: typeof describe.skip =
  executablePath === undefined ? describe.skip : describe

declare global {
  // Types of Playwright name these; the tests of a package for Node have no others of the DOM.
  interface Node {
    readonly nodeType: number
  }
  interface HTMLElement extends Node {
    getAttribute(name: string): string | null
  }
  interface SVGElement extends Node {
    getAttribute(name: string): string | null
  }
  interface HTMLElementTagNameMap {
    readonly div: HTMLElement
  }
}

let browser: Promise<Browser> | undefined
const made: string[] = []

afterAll(async () => {
  await (await browser)?.close()
  for (const folder of made) await rm(folder, { recursive: true, force: true })
})

/** A page, with what its console said and what it asked the network for. */
export interface OpenedPage {
  readonly page: Page
  readonly problems: string[]
  /** Addresses that were asked for, but for those that the page's policy refused. */
  readonly requests: Set<string>
}

/** Opens the picture of a recording from a file. */
export async function openPicture(
  recording: Parameters<typeof pictureOf>[0],
  { hash = '', ...options }: BrowserContextOptions & { readonly hash?: string } = {},
): Promise<OpenedPage> {
  const folder = await mkdtemp(join(tmpdir(), 'picture-'))
  made.push(folder)
  const file = join(folder, 'run.html')
  await writeFile(file, pictureOf(recording))
  return openPage(`${pathToFileURL(file).href}${hash}`, options)
}

export async function openPage(
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ]
  browser ??= chromium.launch({ executablePath: executablePath!, args })
  const page = await (await browser).newPage({ viewport: { width: 1280, height: 900 }, ...options })
  // For pages that hang: on a machine with other work, a step takes many times as long.
  page.context().setDefaultTimeout(120_000)
  const problems: string[] = []
  const requests = new Set<string>()
  page.on('console', (message) => problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => requests.add(request.url()))
  page.on('requestfailed', (request) => {
    if (request.failure()?.errorText === 'csp') requests.delete(request.url())
  })
  await page.goto(url)
  return { page, problems, requests }
}

/** Goes to another row or view of an open picture. */
export async function show(page: Page, address: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(address)}`)
  await page.waitForFunction(`location.hash === ${JSON.stringify(`#${address}`)}`)
}

const axePath = require.resolve('axe-core/axe.min.js')

/** Returns the findings of axe: ids of rules, with the elements that break them. */
export async function findings(page: Page): Promise<string[]> {
  // Evaluation comes through the debugging protocol, which the page's policy does not hold for.
  await page.evaluate(await readFile(axePath, 'utf8'))
  return page.evaluate<string[]>(`axe.run().then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`)
}
