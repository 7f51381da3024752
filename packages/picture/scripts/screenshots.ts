// Makes the pictures of this README and that of `@lamella/durable`, with the Chromium of CHROMIUM_PATH or of the PATH.
// usage: node --conditions=@lamella/source packages/picture/scripts/screenshots.ts
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { pictureOf } from '@lamella/picture'
import { toFile } from '@lamella/picture/file'
import type { BrowserContextOptions } from 'playwright-core'
import { chromium } from 'playwright-core'
import { sampleRun } from './sample-run.ts'

const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'
const target = fileURLToPath(new URL('../screenshots/', import.meta.url))

const example = fileURLToPath(new URL('../../../examples/95-a-run-that-moved.ts', import.meta.url))
const ofDurable = fileURLToPath(new URL('../../durable/screenshots/moved.png', import.meta.url))

const desktop = { viewport: { width: 1440, height: 900 } }
const shots: Readonly<Record<string, { hash: string; options: BrowserContextOptions }>> = {
  request: { hash: '#at=1.4.0&show=request', options: desktop },
  stream: { hash: '#at=1.4&show=stream', options: desktop },
  dark: { hash: '#at=1.4&show=result', options: { ...desktop, colorScheme: 'dark' } },
  phone: {
    hash: '#at=1.4&show=request',
    options: { viewport: { width: 390, height: 900 }, deviceScaleFactor: 1.5 },
  },
}

const folder = await mkdtemp(join(tmpdir(), 'picture-shots-'))
try {
  const recording = join(folder, 'run.jsonl')
  await sampleRun({ sink: toFile(recording), capture: 'full' })
  const page = join(folder, 'run.html')
  await writeFile(page, pictureOf(await readFile(recording, 'utf8')))

  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  for (const [name, { hash, options }] of Object.entries(shots)) {
    const shown = await browser.newPage(options)
    await shown.goto(`${pathToFileURL(page).href}${hash}`)
    await shown.screenshot({ path: join(target, `${name}.png`) })
    await shown.close()
  }
  const moved = join(folder, 'moved.html')
  await promisify(execFile)(process.execPath, ['--conditions=@lamella/source', example, moved])
  const shown = await browser.newPage({ viewport: { width: 1440, height: 560 } })
  await shown.goto(`${pathToFileURL(moved).href}#at=1.1&show=events`)
  await shown.screenshot({ path: ofDurable })
  await browser.close()
} finally {
  await rm(folder, { recursive: true, force: true })
}
