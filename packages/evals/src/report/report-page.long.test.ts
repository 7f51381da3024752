import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Agent, chatMiddleware } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import type { Browser, Frame, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import type { EvaluateOptions, RunRecord } from '../index.ts'
import { evaluate, includes, reportOf, similarity } from '../index.ts'

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

const require = createRequire(import.meta.url)
const { findChromium } = require('../../../../scripts/runtimes/chromium.mjs') as {
  readonly findChromium: (options: { readonly install: boolean }) => string | undefined
}
const isCI = process.env['CI'] === 'true'
const executablePath = process.env['CHROMIUM_PATH'] || findChromium({ install: isCI })
if (executablePath === undefined && isCI) throw new Error('there is no Chromium on the PATH')
if (executablePath === undefined)
  console.warn('SKIPPED, there is no Chromium on the PATH: set CHROMIUM_PATH')

let browser: Promise<Browser> | undefined
const folders: string[] = []
afterAll(async () => {
  await (await browser)?.close()
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

const markup =
  '</script><script>window.hit = 1</script><img src=x onerror="window.hit = 1">"]]>--><b>bold</b>'
const note = chatMiddleware('note', async (context, callNext) => {
  context.instructions = 'Be brief.'
  await callNext()
})

/** The report of an evaluation in which one case broke, and one was fixed. */
async function report(): Promise<string> {
  const answering = (broken: string): EvaluateOptions => ({
    name: 'support',
    agent: new Agent({
      name: 'helper',
      middleware: note,
      client: scriptedClient(({ messages }) =>
        JSON.stringify(messages).includes(broken) ? `No. ${markup}` : 'It was sent on Monday.',
      ),
    }),
    cases: ['first', 'second', 'third'].map((id) => ({
      id,
      input: `${id} ${markup}`,
      expected: 'sent',
    })),
    checks: [includes('sent')],
    scores: [similarity()],
  })
  const baseline: RunRecord[] = []
  await evaluate({ ...answering('first'), onRun: (record) => void baseline.push(record) })
  const records: RunRecord[] = []
  const onRun = (record: RunRecord) => void records.push(record)
  const evaluation = await evaluate({ ...answering('second'), baseline, onRun })
  return reportOf([{ evaluation, records, baseline }])
}

async function openReport(colorScheme: 'light' | 'dark'): Promise<{
  readonly page: Page
  readonly problems: string[]
  readonly requests: string[]
}> {
  const folder = await mkdtemp(join(tmpdir(), 'evals-'))
  folders.push(folder)
  const file = join(folder, 'report.html')
  await writeFile(file, await report())
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run']
  browser ??= chromium.launch({ executablePath: executablePath!, args })
  const page = await (await browser).newPage({ colorScheme })
  // For pages that hang: on a machine with other work, a step takes many times as long.
  page.context().setDefaultTimeout(120_000)
  const problems: string[] = []
  const requests: string[] = []
  page.on('console', (message) => problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => requests.push(request.url()))
  await page.goto(pathToFileURL(file).href)
  return { page, problems, requests: requests.filter((url) => !url.startsWith('file:')) }
}

async function axe(of: Page | Frame): Promise<string[]> {
  await of.evaluate(await readFile(require.resolve('axe-core/axe.min.js'), 'utf8'))
  return of.evaluate<string[]>(`axe.run({ iframes: false }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`)
}

describe.skipIf(executablePath === undefined)('the page of a report', () => {
  it.each(['light', 'dark'] as const)('has nothing that axe finds, in %s', async (scheme) => {
    const { page } = await openReport(scheme)
    await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")

    expect(await axe(page)).toEqual([])
  })

  it('compares the cases that changed, and shows the picture of the run that failed', async () => {
    const { page, problems, requests } = await openReport('light')

    expect(await page.title()).toBe('support: failed')
    expect(await page.locator('summary').allInnerTexts()).toEqual([
      'broken second: failed',
      'fixed first',
    ])
    await page.locator('summary').first().click()
    const picture = page.frameLocator('details[open] iframe')
    await picture.locator('#tree .label').first().waitFor()
    expect(await picture.locator('#tree .label').allInnerTexts()).toContain('note')
    expect(await page.locator('details[open] dd').allInnerTexts()).toEqual([
      `second ${markup}`,
      'It was sent on Monday.',
      `No. ${markup}`,
    ])
    expect(await page.evaluate('window.hit')).toBeUndefined()
    expect(await page.frames()[1]?.evaluate('window.hit')).toBeUndefined()
    expect([problems, requests]).toEqual([[], []])
  })
})
