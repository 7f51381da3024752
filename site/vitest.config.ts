import { defineConfig } from 'vitest/config'

// Apart from the other tests: these need the site, which docs.mjs builds.
export default defineConfig({ test: { include: ['*.test.ts'], testTimeout: 60_000 } })
