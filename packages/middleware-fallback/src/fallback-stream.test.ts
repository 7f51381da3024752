import { Agent } from '@lamella/core'
import { scriptedClient, testClock } from '@lamella/testing'
import type { ScriptedStep } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fallback } from './index.ts'
import type { FallbackOptions } from './index.ts'
import { failure, readUpdates } from './failing-run.test-helper.ts'

const broken = failure('truncated_stream')

function setUp(
  clients: readonly (readonly ScriptedStep[])[],
  options: Partial<FallbackOptions> = {},
) {
  const [own, ...others] = clients.map((steps, at) => scriptedClient(steps, { provider: `p${at}` }))
  const middleware = fallback({ clients: others, ...options })
  return { own, others, agent: new Agent({ client: own!, middleware: middleware }) }
}

describe('a stream that fails', () => {
  it('before content is served by the next client, and nothing of the first is sent', async () => {
    const { agent } = setUp([
      [{ updates: [{ responseId: 'one' }, { model: 'm' }], error: broken }],
      [{ updates: [{ responseId: 'two' }, 'Hi.', { finishReason: 'stop' }] }],
    ])

    const { updates, texts, restart } = await readUpdates(agent)

    expect(updates.flatMap(({ responseId }) => responseId ?? [])).toEqual(['two'])
    expect([texts.join(''), restart]).toEqual(['Hi.', -1])
  })

  it('after content ends with its error, and the reader keeps what came', async () => {
    const { agent, others } = setUp([[{ updates: ['The '], error: broken }], ['Hi.']])

    const { error, texts, partial } = await readUpdates(agent)

    expect(error).toBe(broken)
    expect([texts.join(''), partial?.text]).toEqual(['The ', 'The '])
    expect(others[0]?.requests).toHaveLength(0)
  })

  it('begins anew with the next client where that was asked for', async () => {
    const { agent } = setUp([[{ updates: ['The '], error: broken }], ['Hello.']], {
      midStream: 'restart',
    })

    const { texts, restart, partial } = await readUpdates(agent)

    expect(texts.slice(0, restart).join('')).toBe('The ')
    expect(texts.slice(restart).join('')).toBe('Hello.')
    expect(partial?.text).toBe('Hello.')
  })
})

describe('a stream that is continued', () => {
  const cut: ScriptedStep = {
    updates: [{ type: 'reasoning', text: 'Hm.' }, 'It is ', 'sun'],
    error: broken,
  }
  const rest: ScriptedStep = {
    updates: [{ type: 'reasoning', text: 'Ah.' }, 'ny in ', 'Rome.', { finishReason: 'stop' }],
  }

  it('is one answer, in one message, and marked', async () => {
    const { agent, others } = setUp([[cut], [rest]], { midStream: 'continue' })

    const { texts, restart, partial } = await readUpdates(agent)

    expect(texts.slice(restart).filter(Boolean)).toEqual(['It is sun', 'ny in ', 'Rome.'])
    expect(partial?.text).toBe('It is sunny in Rome.')
    expect(partial?.messages).toHaveLength(1)
    expect(partial?.metadata).toMatchObject({ continued: true, servedBy: { provider: 'p1' } })
    const sent = others[0]?.requests[0]?.messages ?? []
    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(JSON.stringify(sent)).toContain('It is sun')
    expect(JSON.stringify(sent)).not.toContain('Hm.')
  })

  it('gives a reader of text the rest, and nothing twice', async () => {
    const { agent } = setUp([[cut], [rest]], { midStream: 'continue' })
    const pieces: string[] = []

    for await (const piece of agent.run('Hello', { stream: true }).text()) pieces.push(piece)

    expect(pieces).toEqual(['It is ', 'sun', 'ny in ', 'Rome.'])
  })

  it('may break off more than once', async () => {
    const again: ScriptedStep = { updates: ['ny '], error: broken }
    const last: ScriptedStep = { updates: ['in Rome.', { finishReason: 'stop' }] }
    const { agent, others } = setUp([[cut], [again], [last]], {
      midStream: 'continue',
      continuePrompt: 'Continue!',
    })

    const { partial } = await readUpdates(agent)

    expect(partial?.text).toBe('It is sunny in Rome.')
    const contents = others[1]?.requests[0]?.messages.slice(1).map((entry) => entry.contents)
    expect(contents).toEqual([
      [{ type: 'text', text: 'It is sunny ' }],
      [{ type: 'text', text: 'Continue!' }],
    ])
  })

  it('restarts if no text has come, and continues no text that was not seen', async () => {
    const thinking: ScriptedStep = { updates: [{ type: 'reasoning', text: 'Hm.' }], error: broken }
    const { agent, others } = setUp([[thinking], ['Hello.']], { midStream: 'continue' })

    const { partial } = await readUpdates(agent)

    expect(partial?.text).toBe('Hello.')
    expect(others[0]?.requests[0]?.messages).toHaveLength(1)
  })

  it('wherever it breaks, is the whole answer, once, in the history too', async () => {
    const answer = 'It is sunny in Rome, and has been for days.'
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: answer.length }), { minLength: 1, maxLength: 4 }),
        async (cuts) => {
          const at = [0, ...cuts.toSorted((a, b) => a - b), answer.length]
          const parts = at.slice(1).map((end, index) => answer.slice(at[index], end))
          const clients = parts.map((part, index): readonly ScriptedStep[] => {
            const updates = part === '' ? [] : [part]
            const isLast = index === parts.length - 1
            return [
              isLast
                ? { updates: [...updates, { finishReason: 'stop' }] }
                : { updates, error: broken },
            ]
          })
          const { agent } = setUp(clients, { midStream: 'continue' })
          const session = agent.createSession()
          const stream = agent.run('Hello', { stream: true, session })

          let text = ''
          for await (const piece of stream.text()) text += piece

          expect(text).toBe(answer)
          expect((await stream.finalResponse()).text).toBe(answer)
          expect(session.messages.map(({ contents }) => contents)).toEqual([
            [{ type: 'text', text: 'Hello' }],
            [{ type: 'text', text: answer }],
          ])
        },
      ),
      { numRuns: 50 },
    )
  })
})

it('the time of a client is over with the first content of its stream', async () => {
  const clock = testClock()
  const slow: ScriptedStep = { updates: ['One ', 'two.', { finishReason: 'stop' }], delayMs: 800 }
  const own = scriptedClient([slow], { clock })
  const middleware = fallback({ clients: [scriptedClient([])], timeoutMs: 1000, clock })
  const running = readUpdates(new Agent({ client: own, middleware: middleware }))

  await clock.advance(5000)

  expect((await running).partial?.text).toBe('One two.')
  expect(clock.sleeping).toBe(0)
})
