// Builds the documentation site into site/dist, from what the repository holds.
// usage: node site/docs.mjs [--serve] [--test]
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeApiPages } from './api.mjs'
import { firstParagraph, pagesFolder, root, write, writePages } from './pages.mjs'
import { sidebar } from './sidebar.mjs'

const site = join(root, 'site')
const dist = join(site, 'dist')

const timed = async (name, work) => {
  const start = performance.now()
  const result = await work()
  console.log(`${name.padEnd(12)} ${((performance.now() - start) / 1000).toFixed(1)} s`)
  return result
}

const pages = await timed('documents', writePages)
const api = await timed('API', writeApiPages)
write('sidebar.json', JSON.stringify(sidebar(api)))
rmSync(dist, { recursive: true, force: true })
await timed('site', async () => {
  process.env.NODE_ENV = 'production'
  const { build } = await import('vitepress')
  await build(site, { logLevel: 'warn' })
})
writeTexts()
console.log(`${pages.length} documents and ${api.length} API pages`)

if (process.argv.includes('--test')) {
  const vitest = join(root, 'node_modules', '.bin', 'vitest')
  const { status } = spawnSync(vitest, ['run', '--config', join(site, 'vitest.config.ts')], {
    stdio: 'inherit',
    cwd: site,
  })
  process.exitCode = status ?? 1
}
if (process.argv.includes('--serve')) {
  const { serve } = await import('vitepress')
  await serve({ root: site, port: 4173 })
  console.log('Site: http://localhost:4173/')
} else {
  console.log(
    `Site: ${join(dist, 'index.html')}; \`npm run docs -- --serve\` opens it to a browser`,
  )
}

/** Writes what programs read: each page as Markdown, a list of them, and all documents in one file. */
function writeTexts() {
  const listed = pages.filter(({ source }) =>
    /^(?:README|docs\/|packages\/[^/]+\/README|packages\/core\/SKILL|examples\/README)/.test(
      source,
    ),
  )
  for (const { page } of pages) {
    mkdirSync(dirname(join(dist, page)), { recursive: true })
    copyFileSync(join(pagesFolder, page), join(dist, page))
  }
  const lines = listed.map(
    ({ page, title, text }) => `- [${title}](/${page}): ${firstParagraph(text)}`,
  )
  const [overview] = pages.filter(({ source }) => source === 'README.md')
  writeFileSync(
    join(dist, 'llms.txt'),
    `# Lamella\n\n> ${firstParagraph(overview.text)}\n\n## Documents\n\n${lines.join('\n')}\n`,
  )
  const guides = listed.filter(({ source }) => !source.startsWith('docs/decisions/'))
  writeFileSync(
    join(dist, 'llms-full.txt'),
    guides.map(({ page, text }) => `<!-- ${page} -->\n\n${text.trim()}\n`).join('\n'),
  )
}
