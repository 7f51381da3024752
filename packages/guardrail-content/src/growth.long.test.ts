import { scriptedClient } from '@lamella/testing'
import { testGrowthOfExports } from '../../../tests/support/growth-of-exports.ts'
import * as exports from './index.ts'

const {
  azureContentSafety,
  bedrockGuardrail,
  contentFilter,
  llamaModeration,
  modelArmor,
  nemoModeration,
} = exports
const { openaiModeration, profanity } = exports
const signal = new AbortController().signal
const openai = openaiModeration({
  apiKey: 'key',
  fetch: async (_, request) => {
    const { input } = JSON.parse(request?.body as string) as { readonly input: readonly unknown[] }
    const result = { flagged: false, categories: { hate: false }, category_scores: { hate: 0 } }
    return Response.json({ results: input.map(() => result) })
  },
})
const azure = azureContentSafety({
  endpoint: 'https://azure.example.com',
  apiKey: 'key',
  fetch: async () => Response.json({ categoriesAnalysis: [] }),
})

const bedrock = bedrockGuardrail({
  guardrail: 'g',
  region: 'r',
  apiKey: 'key',
  fetch: async () => Response.json({ action: 'NONE' }),
})
const armor = modelArmor({
  project: 'p',
  location: 'l',
  template: 't',
  token: 'token',
  fetch: async () => Response.json({ sanitizationResult: { filterMatchState: 'NO_MATCH_FOUND' } }),
})
const llama = llamaModeration({ client: scriptedClient(() => 'safe') })
const nemo = nemoModeration({ client: scriptedClient(() => '{"User Safety":"safe"}') })

testGrowthOfExports(exports, {
  texts: {
    openaiModeration: (text) => openai.moderate({ type: 'text', text }, signal),
    bedrockGuardrail: (text) => bedrock.moderate({ type: 'text', text }, signal),
    modelArmor: (text) => armor.moderate({ type: 'text', text }, signal),
    llamaModeration: (text) => llama.moderate({ type: 'text', text }, signal),
    nemoModeration: (text) => nemo.moderate({ type: 'text', text }, signal),
    azureContentSafety: (text) => azure.moderate({ type: 'text', text }, signal),
  },
  middlewares: {
    contentFilter: () => contentFilter({ words: { profanity }, leet: true, wholeWord: false }),
    'contentFilter (replacing)': () =>
      contentFilter({ words: { profanity }, patterns: [/b+c/], action: 'replace' }),
  },
})
