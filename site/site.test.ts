import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { searches } from './search.test-data.ts'

const require = createRequire(import.meta.url)
const { findChromium } = require('../scripts/runtimes/chromium.mjs') as {
  readonly findChromium: (options: { readonly install: boolean }) => string | undefined
}
const dist = join(import.meta.dirname, 'dist')
const isCI = process.env['CI'] === 'true'
const executablePath = process.env['CHROMIUM_PATH'] || findChromium({ install: isCI })
if (executablePath === undefined) {
  const words = 'there is no Chromium on the PATH'
  if (isCI) throw new Error(words)
  console.warn(`SKIPPED, ${words}: set CHROMIUM_PATH`)
}

const files = (await readdir(dist, { recursive: true })).map((path) => path.replaceAll('\\', '/'))
const htmlPages = files.filter((path) => path.endsWith('.html') && path !== '404.html')

/** Address of a file of the site, from a link on a page. */
function targetOf(page: string, href: string): { readonly file: string; readonly id: string } {
  const { pathname, hash } = new URL(href, `http://site.test/${page}`)
  const path = decodeURIComponent(pathname).slice(1)
  const file = path === '' || path.endsWith('/') ? `${path}index.html` : path
  return {
    file: extname(file) === '' ? `${file}.html` : file,
    id: decodeURIComponent(hash.slice(1)),
  }
}

describe('the pages', () => {
  it('hold no broken link, anchors included', async () => {
    const texts = new Map<string, string>()
    for (const page of htmlPages) texts.set(page, await readFile(join(dist, page), 'utf8'))
    const ids = new Map<string, Set<string>>()
    for (const [page, html] of texts)
      ids.set(page, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)))
    const broken: string[] = []
    let links = 0
    for (const [page, html] of texts) {
      for (const [, href = ''] of html.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
        if (/^(?:https?|mailto):/.test(href)) continue
        links++
        const { file, id } = targetOf(page, href.replaceAll('&amp;', '&'))
        if (!existsSync(join(dist, file)) || (id !== '' && ids.get(file)?.has(id) === false))
          broken.push(`${page}: ${href}`)
      }
    }

    expect(broken).toEqual([])
    expect(links).toBeGreaterThan(2000)
  })

  it('show nothing of the comments that snippets are compiled with, and no template', async () => {
    for (const page of htmlPages) {
      const html = (await readFile(join(dist, page), 'utf8')).replaceAll(
        /<(pre|code)[^]*?<\/\1>/g,
        '',
      )
      expect([page, html.includes('&lt;!-- context'), html.includes('[object Object]')]).toEqual([
        page,
        false,
        false,
      ])
    }
  })

  it('are listed for programs, each with its Markdown', async () => {
    const list = await readFile(join(dist, 'llms.txt'), 'utf8')
    const full = await readFile(join(dist, 'llms-full.txt'), 'utf8')
    const paths = [...list.matchAll(/\]\(\/([^)]+)\)/g)].map(([, path = '']) => path)

    expect(paths.length).toBeGreaterThan(60)
    expect(paths.filter((path) => !existsSync(join(dist, path)))).toEqual([])
    expect(list).toContain('](/packages/core/SKILL.md)')
    expect(full).toContain('# Streaming')
    expect(full).not.toContain('<!-- context')
  })
})

describe.skipIf(executablePath === undefined)('the site in a browser', () => {
  let browser: Browser
  let base: string
  const foreign: string[] = []
  const server = createServer((request, response) => {
    const { file } = targetOf('', request.url ?? '/')
    const types: Record<string, string> = {
      '.html': 'text/html',
      '.js': 'text/javascript',
      '.css': 'text/css',
      '.svg': 'image/svg+xml',
    }
    readFile(join(dist, file)).then(
      (body) => {
        response.setHeader('content-type', types[extname(file)] ?? 'text/plain')
        response.end(body)
      },
      () => response.writeHead(404).end(),
    )
  })

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] })
  })
  afterAll(async () => {
    await browser.close()
    server.close()
  })

  async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options })
    page.on('request', (request) => {
      if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(base))
        foreign.push(request.url())
    })
    await page.goto(base + path)
    await page.waitForFunction('document.querySelector("#app")?.__vue_app__ !== undefined')
    return page
  }

  async function findings(page: Page): Promise<string[]> {
    await page.evaluate(await readFile(require.resolve('axe-core/axe.min.js'), 'utf8'))
    return page.evaluate<string[]>(`axe.run().then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`)
  }

  it('finds what readers search for', async () => {
    const page = await open('')
    const missed: string[] = []
    await page.keyboard.press('/')
    const input = page.locator('.VPLocalSearchBox input')
    await input.waitFor()

    for (const [query, wanted] of searches) {
      await input.fill(query)
      await page.waitForFunction(
        `document.querySelector('.VPLocalSearchBox .result') !== null`,
        undefined,
        { timeout: 20_000 },
      )
      await page.waitForTimeout(350)
      const found = await page
        .locator('.VPLocalSearchBox .result')
        .evaluateAll((links) => links.slice(0, 5).map((link) => link.getAttribute('href') ?? ''))
      if (!found.slice(0, 3).some((href) => href.includes(wanted)))
        missed.push(`${query}: ${found.join(' ')}`)
    }

    expect(missed).toEqual([])
  })

  it('leads from the keyboard alone to a page that a search found', async () => {
    const page = await open('')

    await page.keyboard.press('/')
    await page.locator('.VPLocalSearchBox input').waitFor()
    await page.keyboard.type('structured output')
    await page.locator('.VPLocalSearchBox .result').first().waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/structured-output/)

    await page.getByRole('heading', { level: 1, name: 'tructured' }).waitFor()
    await page.reload()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Skip')
  })

  it('copies a block of code', async () => {
    const page = await open('docs/streaming.html', {
      permissions: ['clipboard-read', 'clipboard-write'],
    })

    const block = page.locator('div[class*=language-]').first()
    await block.hover()
    await block.locator('button.copy').click()

    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('import { Agent }')
  })

  it('shows one request in both modes, stops on demand, and moves nothing for who wants no motion', async () => {
    const page = await open('')
    const calm = await open('', { reducedMotion: 'reduce' })
    const state = `getComputedStyle(document.querySelector('.start .request')).animationPlayState`

    expect(await page.locator('.start-text:visible').innerText()).toContain('once it is complete')
    await page.getByLabel('as a stream').check()
    expect(await page.locator('.start-text:visible').innerText()).toContain('Words arrive')
    expect(await page.locator('.start .piece:visible').count()).toBe(5)
    expect(await page.evaluate(state)).toBe('running')
    await page.getByLabel('pause').check()
    expect(await page.evaluate(state)).toBe('paused')
    expect(
      await calm.evaluate(
        `getComputedStyle(document.querySelector('.start .request')).animationName`,
      ),
    ).toBe('none')
  })

  const sorts = [
    '',
    'docs/streaming.html',
    'docs/errors.html',
    'packages/middleware-retry/index.html',
    'api/middleware-retry.html',
    'examples/01-first-agent.html',
  ]
  it.each([
    ['desktop', {}],
    ['phone', { viewport: { width: 360, height: 740 } }],
    ['dark', { colorScheme: 'dark' as const }],
  ])('has no finding of axe and no sideways scrolling: %s', async (_, options) => {
    const faults: unknown[] = []
    for (const path of sorts) {
      const page = await open(path, { ...options, reducedMotion: 'reduce' })
      const root = 'document.documentElement'
      const sideways = await page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`)
      const found = await findings(page)
      if (found.length > 0 || sideways !== 0) faults.push({ path, found, sideways })
      await page.close()
    }

    expect(faults).toEqual([])
  })

  it('fits every page into its window, on a phone, a tablet and a desktop', async () => {
    // Pages come whole from the server. Without scripts, one is there at once.
    const page = await browser.newPage({ javaScriptEnabled: false })
    const wide: string[] = []
    for (const path of htmlPages) {
      await page.goto(base + path)
      for (const width of [360, 768, 1280]) {
        await page.setViewportSize({ width, height: 900 })
        // Code breaks its lines, and a table that is too wide scrolls by itself.
        const found = await page.evaluate<string[]>(`[document.documentElement,
          ...document.querySelectorAll('div[class*=language-] pre')]
          .filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1)
          .map(({ tagName, textContent }) => tagName + ' ' + textContent.slice(0, 60))`)
        wide.push(...found.map((what) => `${path} at ${width}: ${what}`))
      }
    }

    expect(wide).toEqual([])
  }, 1_200_000)

  it('asks no other machine for anything', () => {
    expect(foreign).toEqual([])
  })
})
