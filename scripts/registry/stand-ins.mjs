// Servers in the place of providers, and the environment that leads there.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(new URL('../../packages/anthropic/package.json', import.meta.url))

export async function startServers() {
  const { LLMock } = await import(pathToFileURL(require.resolve('@copilotkit/aimock')).href)
  const mock = new LLMock({ port: 0 })
  mock.onMessage(/[\s\S]*/, { content: 'An answer of a stand-in.' })
  await mock.start()
  return {
    env: {
      OPENAI_API_KEY: 'test',
      OPENAI_BASE_URL: `${mock.url}/v1`,
      ANTHROPIC_API_KEY: 'test',
      ANTHROPIC_BASE_URL: mock.url,
      GEMINI_API_KEY: 'test',
      GOOGLE_GEMINI_BASE_URL: mock.url,
      AZURE_OPENAI_ENDPOINT: mock.url,
      AZURE_OPENAI_API_KEY: 'test',
      AZURE_OPENAI_DEPLOYMENT: 'gpt-5-mini',
    },
    close: () => mock.stop(),
  }
}
