import { callFunction } from '@lamella/testing'
import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

test('works where only Web Crypto is', async () => {
  vi.resetModules()
  vi.stubGlobal('process', { ...process, getBuiltinModule: undefined })
  const { policyAgent } = await import('./policy-agent.test-helper.ts')
  const { fingerprints } = await import('./policy/tool-fingerprint.ts')
  const read = callFunction('read_file', { path: 'a.md' })
  const pinned = await fingerprints(policyAgent({}, []).agent.tools)
  const { agent, done } = policyAgent({ repeatLimit: 1, pinned }, [read, read, 'Done.'])

  await agent.run('Go')

  expect(done).toHaveLength(1)
})
