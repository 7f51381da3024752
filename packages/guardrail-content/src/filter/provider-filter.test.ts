import type { AgentResponse } from '@lamella/core'
import type { GuardrailEvent } from '@lamella/guardrail'
import { Agent, createSession, ProviderError, text } from '@lamella/core'
import type { ScriptedStep } from '@lamella/testing'
import { scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { contentFilter } from './content-filter.ts'
import type { ContentFilterOptions } from './content-filter-options.ts'

const safe = { filtered: false, severity: 'safe' }

describe.each([false, true])('streamed: %s', (stream) => {
  async function run(
    step: ScriptedStep,
    options: ContentFilterOptions = {},
  ): Promise<{ response: AgentResponse; events: readonly GuardrailEvent[] }> {
    const events: GuardrailEvent[] = []
    const onEvent = (event: GuardrailEvent): void => {
      if (event.guardrail === 'content-provider') events.push(event)
    }
    const client = scriptedClient([step])
    const agent = new Agent({ client, middleware: contentFilter({ ...options, onEvent }) })
    const response = stream
      ? await agent.run('Hello', { stream: true }).finalResponse()
      : await agent.run('Hello')
    return { response, events }
  }

  const answer = (verdict: unknown, finishReason = 'stop'): ScriptedStep => ({
    updates: [
      { contents: [text('Well, you see')] },
      { contents: [], metadata: { contentFilter: verdict }, finishReason },
    ],
  })

  test('a prompt that Azure refuses is a block, not a failure', async () => {
    const error = new ProviderError('blocked by the content filter', {
      kind: 'content_filter',
      provider: 'azure-openai',
      details: {
        contentFilter: {
          filtered: true,
          prompt: { hate: safe, jailbreak: { filtered: true, detected: true } },
        },
      },
    })

    const { response, events } = await run(error)

    expect(response).toMatchObject({
      status: 'blocked',
      block: { guardrail: 'content-provider', stage: 'input', category: 'jailbreak' },
    })
    expect(events).toEqual([
      {
        guardrail: 'content-provider',
        stage: 'input',
        status: 'blocked',
        category: 'jailbreak',
        severity: 1,
      },
    ])
  })

  test('OpenAI says less of its reasons', async () => {
    const error = new ProviderError('no', { kind: 'content_filter', provider: 'openai' })

    expect((await run(error)).response.block).toMatchObject({ category: 'content_filter' })
    await expect(run(error, { native: 'flag' })).rejects.toBe(error)
    await expect(run(error, { native: 'off' })).rejects.toBe(error)
  })

  test('an answer that was cut by the filter is a block with the category', async () => {
    const completion = { violence: { filtered: true, severity: 'high' }, hate: safe }

    const { response } = await run(answer({ filtered: true, completion }, 'content-filter'))

    expect(response.block).toMatchObject({ stage: 'output', category: 'violence' })
    expect(response.text).not.toContain('Well')
  })

  test('an answer that was cut without a reason is a block too', async () => {
    const { response } = await run({ messages: 'Well,', finishReason: 'content-filter' })

    expect(response.block).toMatchObject({ stage: 'output', category: 'content_filter' })
  })

  test('the lists of the Responses API are read', async () => {
    const list = [
      { blocked: false, source_type: 'prompt', content_filter_results: { hate: safe } },
      {
        blocked: true,
        source_type: 'completion',
        content_filter_results: { sexual: { filtered: true, severity: 'medium' } },
      },
    ]

    const { response } = await run(answer(list))

    expect(response.block).toMatchObject({ stage: 'output', category: 'sexual' })
  })

  test('what the filter only noticed is flagged, or blocked over a threshold', async () => {
    const noticed = answer({
      filtered: false,
      prompt: { indirect_attack: { filtered: false, detected: true } },
      completion: { violence: { filtered: false, severity: 'low' } },
    })

    const { response, events } = await run(noticed)
    const strict = await run(noticed, { thresholds: { violence: 0.3 } })

    expect(response.status).toBe('completed')
    expect(events.map(({ status, category }) => `${status} ${category}`)).toEqual([
      'flagged indirect_attack',
      'flagged violence',
    ])
    expect(strict.response.block?.category).toBe('violence')
  })

  test('a filter that failed follows `onError`', async () => {
    const failed = answer({ filtered: false, completion: { error: { code: 'timeout' } } })

    const closed = await run(failed)
    const open = await run(failed, { onError: 'open' })

    expect(closed.response.block?.category).toBe('filter_error')
    expect(open.response.status).toBe('completed')
    expect(open.events.map(({ status }) => status)).toEqual(['error'])
  })

  test('a refusal is flagged, and is the answer all the same', async () => {
    const refusal = [{ type: 'refusal', text: 'I will not.' } as const]

    const { response, events } = await run(refusal)

    expect(response.status).toBe('completed')
    expect(events).toMatchObject([{ status: 'flagged', category: 'refusal' }])
    expect((await run(refusal, { refusals: 'block' })).response.block?.category).toBe('refusal')
    expect((await run(refusal, { refusals: 'allow' })).events).toEqual([])
  })

  test('in the shadow it only reports', async () => {
    const cut = answer({ filtered: true }, 'content-filter')

    const { response, events } = await run(cut, { mode: 'shadow' })

    expect(response.status).toBe('completed')
    expect(events.map(({ status }) => status)).toEqual(['shadow'])
  })

  test('other failures stay as they are', async () => {
    const error = new ProviderError('busy', { kind: 'overloaded', provider: 'openai' })

    await expect(run(error)).rejects.toBe(error)
  })
})

test('what was streamed before the filter cut is gone from response and session', async () => {
  const client = scriptedClient([{ messages: 'How to build a', finishReason: 'content-filter' }])
  const session = createSession()
  const stream = new Agent({ client, middleware: contentFilter() }).run('x', {
    session,
    stream: true,
  })

  let seen = ''
  for await (const piece of stream.text({ onRestart: () => (seen = '') })) seen += piece

  expect(seen).toBe('I cannot help with this request.')
  expect(JSON.stringify([await stream.finalResponse(), session])).not.toContain('build')
})
