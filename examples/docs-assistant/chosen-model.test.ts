import { expect, it } from 'vitest'
import { chooseModel } from './chosen-model.ts'

it.each([
  [{ OPENAI_API_KEY: 'key' }, 'openai', 'https://api.openai.com/v1'],
  [{ ANTHROPIC_API_KEY: 'key' }, 'anthropic', 'https://api.anthropic.com/'],
  [{ GEMINI_API_KEY: 'key' }, 'google', 'https://generativelanguage.googleapis.com/'],
  [
    {
      AZURE_OPENAI_API_KEY: 'key',
      AZURE_OPENAI_DEPLOYMENT: 'small',
      AZURE_OPENAI_ENDPOINT: 'https://acme.openai.azure.com',
    },
    'azure-openai',
    'https://acme.openai.azure.com/',
  ],
])('%j chooses a model of %s', async (env, provider, address) => {
  const model = await chooseModel(env, false)

  expect([model.client.provider, model.address, model.hasKey]).toEqual([provider, address, true])
  await model[Symbol.asyncDispose]()
})

it('a name of a model and an address go along with a key of Gemini', async () => {
  const env = {
    GEMINI_API_KEY: 'key',
    GEMINI_MODEL: 'gemini-3-pro',
    GOOGLE_GEMINI_BASE_URL: 'https://gateway.example',
  }

  const model = await chooseModel(env, false)

  expect([model.name, model.address]).toEqual(['gemini-3-pro', 'https://gateway.example/'])
  await model[Symbol.asyncDispose]()
})
