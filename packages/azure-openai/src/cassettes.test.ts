import { expect } from 'vitest'
import type { Result } from '../../../tests/provider-harness/cassettes.ts'
import {
  describeCassettes,
  expectTruth,
  failureIn,
} from '../../../tests/provider-harness/cassettes.ts'
import type { ExpectedAnswer } from '../../openai/fixtures/expected-answer.ts'
import { expectAnswer, expectFailure } from '../../openai/fixtures/expected-answer.ts'
import { azureContentFilter } from './answers/azure-content-filter.ts'
import { AzureOpenAIChatClient } from './azure-openai-chat-client.ts'

describeCassettes<ExpectedAnswer>({
  isOurs: (api) => api.startsWith('azure-'),
  open: ({ api }, { url, fetch }) =>
    new AzureOpenAIChatClient({
      endpoint: url,
      fetch,
      api: api === 'azure-chat' ? 'chat' : 'responses',
      apiKey: 'test-key',
      deployment: 'test-deployment',
    }),
  expectRecorded(result, { truth, wire, expected, synthetic, response }) {
    const body = /^\s*\{/.test(response.body) ? JSON.parse(response.body) : {}
    if (response.status === 200 && body.error) expectRefusalInside200(result)
    else if (synthetic) {
      expectTruth(result, truth!)
      if (truth!.filtered) expectFiltered(result, truth!.filtered)
    } else if (wire) expectAnswer(result, wire)
    else if (expected?.error) expectAzureFailure(result, expected, response.headers)
    else expectAnswer(result, expected!)
    if (body.choices) expectVerdict(result, body)
  },
})

/** The SDK takes such a body for an answer without choices; what it reports is a refusal. */
function expectRefusalInside200(result: Result): void {
  const error = 'error' in result ? result.error : undefined
  expect(error).toMatchObject({ kind: 'content_filter', retry: { retryable: false } })
  expect(azureContentFilter(error)).toMatchObject({
    filtered: true,
    prompt: { hate: { filtered: true, severity: 'high' } },
  })
}

interface Verdicts {
  readonly prompt_filter_results?: readonly { content_filter_results: object }[]
  readonly choices: readonly { content_filter_results?: object }[]
}

function expectVerdict(result: Result, { prompt_filter_results, choices }: Verdicts): void {
  if (!('response' in result)) return
  const { prompt, completion } = azureContentFilter(result.response) ?? {}
  expect(prompt).toEqual(prompt_filter_results?.[0]?.content_filter_results)
  expect(completion ?? {}).toEqual(choices[0]?.content_filter_results ?? {})
}

function expectFiltered(result: Result, names: readonly string[]): void {
  const verdict = azureContentFilter(failureIn(result))
  for (const name of names) expect(verdict?.prompt).toMatchObject({ [name]: { filtered: true } })
}

function expectAzureFailure(
  result: Result,
  expected: ExpectedAnswer,
  headers: Readonly<Record<string, string>>,
): void {
  // The SDK does not know the name that Azure's gateway gives it.
  const requestId = expected.error!.requestId ?? headers['apim-request-id'] ?? null
  expectFailure(result, { ...expected, error: { ...expected.error!, requestId } })
  const error = failureIn(result)
  if (error.kind === 'content_filter') expect(azureContentFilter(error)?.filtered).toBe(true)
}
