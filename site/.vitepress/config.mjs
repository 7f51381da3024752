import { existsSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitepress'

const sidebarFile = new URL('../.pages/sidebar.json', import.meta.url)

/** Anchors as code hosts make them, so that a link works in the repository and on the site. */
const slugify = (text) =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-')

export default defineConfig({
  title: 'Lamella',
  description: 'Small TypeScript packages that put middleware around the work of an LLM agent.',
  lang: 'en-US',
  base: process.env.SITE_BASE ?? '/',
  srcDir: '.pages',
  outDir: 'dist',
  cacheDir: '.cache',
  cleanUrls: false,
  lastUpdated: false,
  metaChunk: true,
  markdown: {
    anchor: { slugify },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    languages: ['ts', 'js', 'json', 'sh', 'yaml', 'html', 'python', 'go', 'sql'],
    config: (md) => {
      // What the documents write in braces is theirs, not a template's.
      md.core.ruler.push('no-templates', ({ tokens }) => {
        for (const token of tokens)
          for (const child of token.children ?? [])
            if (child.type === 'code_inline') child.attrSet('v-pre', '')
      })
    },
  },
  themeConfig: {
    nav: [
      { text: 'Docs', link: '/docs/' },
      { text: 'Examples', link: '/examples/' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: existsSync(sidebarFile) ? JSON.parse(readFileSync(sidebarFile, 'utf8')) : [],
    outline: [2, 3],
    externalLinkIcon: true,
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          searchOptions: {
            fuzzy: 0.15,
            prefix: true,
            boost: { title: 6, titles: 2, text: 1 },
            boostDocument: (id) =>
              id.includes('/docs/decisions/') || id.includes('/api/')
                ? 0.3
                : id.includes('/examples/')
                  ? 0.6
                  : id.includes('/docs/')
                    ? 2
                    : 1,
          },
        },
      },
    },
  },
})
