import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseFragment } from 'parse5'
import { expect, test } from 'vitest'
import { cleaned, randomAnswers, renderers } from './rendered-answers.test-helper.ts'

interface Element {
  readonly nodeName: string
  readonly attrs?: readonly { readonly name: string; readonly value: string }[]
  readonly childNodes?: readonly Element[]
  readonly content?: Element
  readonly value?: string
}

const fetching = [
  'src',
  'srcset',
  'poster',
  'background',
  'data',
  'style',
  'ping',
  'srcdoc',
  'xlink:href',
]
const clicked = ['a', 'area']

/** Lists the attributes and sheets of an HTML text that have a browser fetch something from elsewhere. */
function fetchedBy(html: string): readonly string[] {
  const found: string[] = []
  const visit = ({ nodeName, attrs = [], childNodes = [], content }: Element): void => {
    for (const { name, value } of attrs) {
      const isFetched = fetching.includes(name) || (name === 'href' && !clicked.includes(nodeName))
      const parts = name === 'srcset' ? value.split(',') : [value]
      const isStyle =
        name === 'style' && /url\(|image-set|@import/i.test(value) && /\/\/|https?:|\\/.test(value)
      const isForeign = parts.some((part) =>
        ['http', 'https'].some((scheme) => {
          const url = URL.parse(part.trim().split(/\s/)[0]!, `${scheme}://here.invalid`)
          return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== 'here.invalid'
        }),
      )
      if (isFetched && (name === 'style' ? isStyle : isForeign)) found.push(`${nodeName} ${name}`)
    }
    if (
      ['style', 'link', 'script', 'iframe', 'object', 'embed', 'base', 'meta'].includes(nodeName)
    ) {
      found.push(nodeName)
    }
    for (const child of childNodes) visit(child)
    if (content !== undefined) visit(content)
  }
  visit(parseFragment(html) as Element)
  return found
}

test.each(Object.keys(renderers))(
  'of 6,000 random answers, %s shows nothing from elsewhere',
  (name) => {
    const render = renderers[name]!
    const answers = randomAnswers(6000, 11)

    const before = answers.filter((text) => fetchedBy(render(text)).length > 0)
    const after = answers.filter((text) => fetchedBy(render(cleaned(text))).length > 0)

    expect(before.length).toBeGreaterThan(500)
    expect(after).toEqual([])
  },
)

const require = createRequire(import.meta.url)
const { findChromium } = require('../../../../scripts/runtimes/chromium.mjs') as {
  readonly findChromium: (options: { readonly install: boolean }) => string | undefined
}
const isCI = process.env['CI'] === 'true'
const chromium = findChromium({ install: isCI })
if (chromium === undefined) {
  if (isCI) throw new Error('there is no Chromium')
  console.warn('SKIPPED, there is no Chromium to render answers with')
}

const flags =
  `--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
  --disable-component-update --disable-sync --disable-default-apps --disable-extensions`.split(
    /\s+/,
  )

/** Shows HTML texts in Chromium, whose every request goes to a proxy, and lists the hosts that it asks for. */
async function hostsAskedFor(texts: readonly string[]): Promise<readonly string[]> {
  const hosts = new Set<string>()
  let finish = (): void => {}
  const done = new Promise<void>((resolve) => {
    finish = resolve
  })
  const page = `<!doctype html><meta charset="utf-8"><body><script>
    const texts = ${JSON.stringify(texts).replaceAll('<', '\\u003c')}
    for (const text of texts) {
      const place = document.createElement('div')
      document.body.append(place)
      place.innerHTML = text
      place.getBoundingClientRect()
    }
    requestAnimationFrame(() => requestAnimationFrame(() => fetch('http://here.invalid/done')))
  </script>`
  const proxy = createServer((request, response) => {
    const { hostname, pathname } = new URL(request.url!)
    if (hostname !== 'here.invalid') hosts.add(hostname)
    if (hostname === 'here.invalid' && pathname === '/done') finish()
    response.writeHead(200, { 'content-type': 'text/html;charset=utf-8' })
    response.end(hostname === 'here.invalid' && pathname === '/' ? page : '')
  })
  proxy.on('connect', (request, socket) => {
    hosts.add(request.url!.split(':')[0]!)
    socket.end('HTTP/1.1 502 no\r\n\r\n')
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  const profile = await mkdtemp(join(tmpdir(), 'lamella-answers-'))
  const own = [
    `--user-data-dir=${profile}`,
    `--proxy-server=127.0.0.1:${port}`,
    '--remote-debugging-port=0',
  ]
  const browser = spawn(chromium!, [...flags, ...own, 'http://here.invalid/'], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => browser.on('exit', () => resolve()))
  await Promise.race([done, ended])
  browser.kill('SIGKILL')
  await ended
  proxy.closeAllConnections()
  proxy.close()
  await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  return [...hosts].filter((host) => host.endsWith('.example'))
}

test.skipIf(chromium === undefined)(
  'Chromium shows 1,000 random answers and asks nobody else for anything',
  async () => {
    const answers = randomAnswers(1000, 3)
    const shown = (text: string) => Object.values(renderers).map((render) => render(text))

    expect(await hostsAskedFor(answers.slice(0, 100).flatMap(shown))).toEqual(['evil.example'])
    expect(await hostsAskedFor(answers.map(cleaned).flatMap(shown))).toEqual([])
  },
)
