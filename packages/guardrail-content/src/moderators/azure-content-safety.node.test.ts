import { Agent } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import { azureContentSafety } from './azure-content-safety.ts'
import { contentFilter } from '../filter/content-filter.ts'
import type { ModerationRequest } from './moderation-server.test-helper.ts'
import { startModerationServer } from './moderation-server.test-helper.ts'

const signal = new AbortController().signal

function answering({ body }: ModerationRequest): { body: object } {
  const severity = JSON.stringify(body).includes('kill') ? 4 : 0
  const categoriesAnalysis = [
    { category: 'Hate', severity: 0 },
    { category: 'SelfHarm', severity: 2 },
    { category: 'Violence', severity },
  ]
  const blocklistsMatch = String(body['text']).includes('acme')
    ? [{ blocklistName: 'rivals', blocklistItemId: '1', blocklistItemText: 'acme' }]
    : []
  return { body: { blocklistsMatch, categoriesAnalysis } }
}

test('medium severity is blocked, and the request is as the endpoint wants it', async () => {
  await using server = await startModerationServer(answering)
  const moderation = azureContentSafety({
    endpoint: `${server.url}/`,
    apiKey: 'azure-key',
    blocklists: ['rivals'],
  })
  const client = scriptedClient(() => 'Fine.')
  const agent = new Agent({ client, middleware: contentFilter({ moderation }) })

  const response = await agent.run('kill')

  expect(response.block).toMatchObject({ category: 'violence', stage: 'input' })
  expect(server.requests).toMatchObject([
    {
      url: '/contentsafety/text:analyze?api-version=2024-09-01',
      headers: { 'ocp-apim-subscription-key': 'azure-key' },
      body: { text: 'kill', blocklistNames: ['rivals'] },
    },
  ])
})

test('scores are severities, with one name for a category whoever judges', async () => {
  await using server = await startModerationServer(answering)
  const moderator = azureContentSafety({ endpoint: server.url, apiKey: 'k', minSeverity: 2 })

  expect(await moderator.moderate({ type: 'text', text: 'acme' }, signal)).toEqual({
    hate: { flagged: false, score: 0 },
    self_harm: { flagged: true, score: 2 / 6 },
    violence: { flagged: false, score: 0 },
    blocklist: { flagged: true, score: 1 },
  })
})

test('images are sent as bytes, with a token', async () => {
  await using server = await startModerationServer(answering)
  const moderator = azureContentSafety({ endpoint: server.url, token: () => 'entra' })
  const data = { type: 'data', mediaType: 'image/png', data: 'AQID' } as const

  await moderator.moderate({ type: 'image', image: data }, signal)
  await moderator.moderate(
    { type: 'image', image: { type: 'uri', uri: 'data:image/png;base64,AQIE' } },
    signal,
  )
  const remote = { type: 'uri', uri: 'https://example.com/a.png' } as const

  await expect(moderator.moderate({ type: 'image', image: remote }, signal)).rejects.toMatchObject({
    code: 'moderation_failed',
  })
  expect(server.requests).toMatchObject([
    {
      url: '/contentsafety/image:analyze?api-version=2024-09-01',
      headers: { authorization: 'Bearer entra' },
      body: { image: { content: 'AQID' } },
    },
    { body: { image: { content: 'AQIE' } } },
  ])
})

test('an answer of another form is a failure', async () => {
  await using server = await startModerationServer(() => ({ body: { error: { code: 'x' } } }))
  const moderator = azureContentSafety({ endpoint: server.url, apiKey: 'k' })

  await expect(moderator.moderate({ type: 'text', text: 'a' }, signal)).rejects.toMatchObject({
    code: 'moderation_failed',
  })
})

test('wrong options are named', () => {
  expect(() => azureContentSafety({ endpoint: '' })).toThrow(/azureContentSafety: `endpoint`/)
  expect(() => azureContentSafety({ endpoint: 'https://a' })).toThrow(/`apiKey`/)
})
