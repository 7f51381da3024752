import { describe, expect, it } from 'vitest'
import { bedrockGuardrail, modelArmor } from '../index.ts'
import { startModerationServer } from './moderation-server.test-helper.ts'

const { signal } = new AbortController()
const input = { type: 'text', text: 'Hello' } as const
const bedrockAt = (baseURL: string) =>
  bedrockGuardrail({ guardrail: 'gr-1', version: '2', apiKey: 'key', baseURL })
const armorAt = (baseURL: string) =>
  modelArmor({ project: 'p', location: 'l', template: 't', token: async () => 'tok', baseURL })

describe('bedrockGuardrail', () => {
  it('asks the guardrail, and names what it acts on', async () => {
    await using server = await startModerationServer(() => ({
      body: {
        action: 'GUARDRAIL_INTERVENED',
        assessments: [
          {
            topicPolicy: { topics: [{ name: 'Tax advice', type: 'DENY', action: 'BLOCKED' }] },
            contentPolicy: {
              filters: [
                { type: 'VIOLENCE', confidence: 'HIGH', action: 'BLOCKED' },
                { type: 'INSULTS', confidence: 'LOW', action: 'NONE' },
              ],
            },
            sensitiveInformationPolicy: { piiEntities: [{ type: 'EMAIL', action: 'ANONYMIZED' }] },
          },
        ],
      },
    }))

    const scores = await bedrockAt(server.url).moderate(input, signal)

    expect(scores).toEqual({
      'topic/tax_advice': { flagged: true, score: 1 },
      'content/violence': { flagged: true, score: 1 },
      'content/insults': { flagged: false, score: 0.33 },
      'pii/email': { flagged: true, score: 1 },
    })
    expect(server.requests[0]).toMatchObject({
      url: '/guardrail/gr-1/version/2/apply',
      headers: { authorization: 'Bearer key' },
      body: { source: 'INPUT', content: [{ text: { text: 'Hello' } }] },
    })
  })

  it.each([
    ['without an action', { body: {} }],
    ['of an error', { status: 429, body: {} }],
  ])('an answer %s is no verdict', async (_, answer) => {
    await using server = await startModerationServer(() => answer)

    const asked = bedrockAt(server.url).moderate(input, signal)

    await expect(asked).rejects.toMatchObject({ code: 'moderation_failed' })
  })
})

describe('modelArmor', () => {
  const resultOf = (more: object) => ({ body: { sanitizationResult: more } })

  it('asks the template, and names the filters that match', async () => {
    await using server = await startModerationServer(() =>
      resultOf({
        filterMatchState: 'MATCH_FOUND',
        invocationResult: 'SUCCESS',
        filterResults: {
          pi_and_jailbreak: {
            piAndJailbreakFilterResult: { matchState: 'MATCH_FOUND', confidenceLevel: 'HIGH' },
          },
          rai: {
            raiFilterResult: {
              matchState: 'NO_MATCH_FOUND',
              raiFilterTypeResults: { dangerous: { matchState: 'NO_MATCH_FOUND' } },
            },
          },
          sdp: { sdpFilterResult: { inspectResult: { matchState: 'NO_MATCH_FOUND' } } },
        },
      }),
    )

    const scores = await armorAt(server.url).moderate(input, signal)

    expect(scores).toEqual({
      pi_and_jailbreak: { flagged: true, score: 1 },
      'rai/dangerous': { flagged: false, score: 0 },
      sdp: { flagged: false, score: 0 },
    })
    expect(server.requests[0]).toMatchObject({
      url: '/v1/projects/p/locations/l/templates/t:sanitizeUserPrompt',
      headers: { authorization: 'Bearer tok' },
      body: { userPromptData: { text: 'Hello' } },
    })
  })

  it.each([
    ['without a state', {}],
    [
      'in which a filter failed',
      { filterMatchState: 'NO_MATCH_FOUND', invocationResult: 'PARTIAL' },
    ],
  ])('an answer %s is no verdict', async (_, more) => {
    await using server = await startModerationServer(() => resultOf(more))

    const asked = armorAt(server.url).moderate(input, signal)

    await expect(asked).rejects.toMatchObject({ code: 'moderation_failed' })
  })
})

it.each([
  ['bedrockGuardrail: `region`', () => bedrockGuardrail({ guardrail: 'g', apiKey: 'k' })],
  [
    'modelArmor: `token`',
    () => modelArmor({ project: 'p', location: 'l', template: 't', token: '' }),
  ],
])('%s is required', (words, make) => {
  expect(make).toThrow(words)
})
