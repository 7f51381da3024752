import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { pageScript, pageStyle } from './page-assets.ts'

it('is what the sources of the page make', async () => {
  const script = fileURLToPath(new URL('../../scripts/build-page.mjs', import.meta.url))

  const made = promisify(execFile)(process.execPath, [script, '--check'])

  await expect(made).resolves.toMatchObject({ stderr: '' })
})

it('is small: 60 kB, and 21 kB gzipped', () => {
  const all = pageScript + pageStyle

  expect(all.length).toBeLessThan(60_000)
  expect(gzipSync(all, { level: 9 }).length).toBeLessThan(21_000)
})

it('makes elements and texts only, never markup', () => {
  expect(pageScript).not.toMatch(
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/,
  )
})
