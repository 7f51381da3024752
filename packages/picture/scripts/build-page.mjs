// Makes src/views/page-assets.ts of what is in page/: one script and one style, as every picture holds them.
// usage: node packages/picture/scripts/build-page.mjs [--check]
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const file = path('src/views/page-assets.ts')

const bundle = async (entry, options) => {
  const { outputFiles } = await build({
    entryPoints: [path(entry)],
    bundle: true,
    minify: true,
    write: false,
    charset: 'utf8',
    legalComments: 'none',
    ...options,
  })
  return outputFiles[0].text.trim()
}
const hash = (text) => `sha256-${createHash('sha256').update(text).digest('base64')}`

const script = await bundle('page/main.ts', { format: 'iife', target: 'es2023' })
const style = await bundle('page/style.css', { target: 'chrome123' })
const frame = readFileSync(path('page/frame.html'), 'utf8').trim()

// Long lines, so that a change of the page is a change of few lines.
const text = `// Made by scripts/build-page.mjs of what is in page/. Do not edit.
// biome-ignore-all format: generated

/** Script of every picture. */
export const pageScript: string = ${JSON.stringify(script)}

/** Style of every picture. */
export const pageStyle: string = ${JSON.stringify(style)}

/** Body of every picture, without its data. */
export const pageFrame: string = ${JSON.stringify(frame)}

/** Hashes by which a content security policy knows the script and the style. */
export const pageHashes: { readonly script: string; readonly style: string } = {
  script: '${hash(script)}',
  style: '${hash(style)}',
}
`

if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== text) {
    console.error('src/views/page-assets.ts is not what page/ makes; run scripts/build-page.mjs')
    process.exit(1)
  }
} else {
  writeFileSync(file, text)
  console.log(`script ${script.length} B, style ${style.length} B`)
}
