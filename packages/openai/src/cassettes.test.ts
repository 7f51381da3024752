import { describeCassettes, expectTruth } from '../../../tests/provider-harness/cassettes.ts'
import type { ExpectedAnswer } from '../fixtures/expected-answer.ts'
import { expectAnswer, expectFailure } from '../fixtures/expected-answer.ts'
import { OpenAIChatClient } from './openai-chat-client.ts'
import { OpenAIChatCompletionsClient } from './openai-chat-completions-client.ts'

describeCassettes<ExpectedAnswer>({
  isOurs: (api) => api === 'openai-chat' || api === 'openai-responses',
  open({ api, provider }, { url, fetch }) {
    const Client = api === 'openai-chat' ? OpenAIChatCompletionsClient : OpenAIChatClient
    const options = { apiKey: 'test-key', model: 'test-model', provider, fetch }
    return new Client({ ...options, baseURL: `${url}/v1` })
  },
  expectRecorded(result, { truth, wire, expected, synthetic }) {
    if (synthetic) expectTruth(result, truth!)
    else if (wire) expectAnswer(result, wire)
    else if (expected?.error) expectFailure(result, expected)
    else expectAnswer(result, expected!)
  },
})
