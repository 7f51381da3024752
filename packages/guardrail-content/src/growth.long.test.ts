import { testGrowthOfExports } from '../../../tests/support/growth-of-exports.ts'
import * as exports from './index.ts'

const { azureContentSafety, contentFilter, openaiModeration, profanity } = exports
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

testGrowthOfExports(exports, {
  texts: {
    openaiModeration: (text) => openai.moderate({ type: 'text', text }, signal),
    azureContentSafety: (text) => azure.moderate({ type: 'text', text }, signal),
  },
  middlewares: {
    contentFilter: () => contentFilter({ words: { profanity }, leet: true, wholeWord: false }),
    'contentFilter (replacing)': () =>
      contentFilter({ words: { profanity }, patterns: [/b+c/], action: 'replace' }),
  },
})
