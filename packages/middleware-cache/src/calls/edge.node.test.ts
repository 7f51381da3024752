import { readdirSync, readFileSync } from 'node:fs'
import { Agent } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

test('works where only Web Crypto is, with the same keys', async () => {
  const { cache } = await import('./cache.ts')
  vi.resetModules()
  vi.stubGlobal('process', { ...process, getBuiltinModule: undefined })
  const { cache: edgeCache } = await import('./cache.ts')
  const keyBy = async (middleware: ReturnType<typeof cache>) => {
    const client = scriptedClient(['Hi.'])
    const agent = new Agent({ client, middleware })
    await agent.run('grüße 😀')
    return (await agent.run('grüße 😀')).metadata['cache']
  }

  const onEdge = await keyBy(edgeCache())

  expect(onEdge).toMatchObject({ hit: true })
  expect(onEdge).toMatchObject({ key: ((await keyBy(cache())) as { key: string }).key })
})

test('no source imports a module of Node', () => {
  const sources = readdirSync(import.meta.dirname).filter((name) => /^[\w-]+\.ts$/.test(name))

  const importing = sources.filter((name) =>
    readFileSync(`${import.meta.dirname}/${name}`, 'utf8').includes(`from 'node:`),
  )

  expect(sources).toContain('cache.ts')
  expect(importing).toEqual([])
})
