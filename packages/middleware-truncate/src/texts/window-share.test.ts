import { Agent, chatMiddleware, jsonSchema, tool, withMiddleware } from '@lamella/core'
import { models } from '@lamella/models'
import { scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { contentTruncator, historyTruncator, summarizer } from '../index.ts'
import { call, say, talk } from '../turns/conversation.test-helper.ts'

const windows = models.extend({
  small: { contextTokens: 100 },
  large: { contextTokens: 1_000 },
})
const history = [...talk(14), say('user', 'now')]

/** Number of messages that reach a model with a truncator of this share. */
async function sent(model: string, share: number, maxOutputTokens?: number) {
  const client = scriptedClient(['Done.'], { model })
  const middleware = historyTruncator({ maxTokens: { share, of: windows }, notice: false })
  await withMiddleware(client, middleware).getResponse(history, { maxOutputTokens })
  return client.requests[0]!.messages.length
}

describe('a share of a window', () => {
  it('is of the window of the model that the call goes to', async () => {
    const [inSmall, inLarge] = [await sent('small', 0.8), await sent('large', 0.8)]

    expect(inLarge).toBe(history.length)
    expect(inSmall).toBeLessThan(history.length)
    expect(inSmall).toBeGreaterThan(0)
  })

  it('leaves room for the tokens that the answer may have', async () => {
    expect(await sent('large', 1, 900)).toBeLessThan(history.length)
  })

  it('follows a call that an outer middleware sends to a smaller model', async () => {
    const small = scriptedClient(['Done.'], { model: 'small' })
    const switching = chatMiddleware('switch', async (context, callNext) => {
      context.client = small
      await callNext()
    })
    const truncator = historyTruncator({ maxTokens: { share: 0.8, of: windows }, notice: false })
    const client = scriptedClient(['Never.'], { model: 'large' })

    await withMiddleware(client, [switching, truncator]).getResponse(history)

    expect(small.requests[0]!.messages.length).toBeLessThan(history.length)
  })

  it('fails before the call of a model whose window is unknown, or takes the number given', async () => {
    const client = scriptedClient(['Done.'], { model: 'strange' })
    const strict = historyTruncator({ maxTokens: { share: 0.8, of: windows } })
    const lenient = historyTruncator({ maxTokens: { share: 0.8, of: windows, otherwise: 500 } })

    await expect(new Agent({ client, middleware: strict }).run('Hi')).rejects.toMatchObject({
      code: 'window_unknown',
      message: expect.stringContaining('`maxTokens.of`') as string,
    })
    expect(client.requests).toHaveLength(0)
    expect((await new Agent({ client, middleware: lenient }).run('Hi')).text).toBe('Done.')
  })

  it('is where a summary begins, for the model that is called', async () => {
    const summarized = async (model: string): Promise<boolean> => {
      const client = scriptedClient(['Done.'], { model })
      const middleware = summarizer({
        maxTokens: { share: 0.8, of: windows },
        keepMessages: 2,
        client: scriptedClient(() => 'They talked.'),
      })
      await withMiddleware(client, middleware).getResponse(history)
      return client.requests[0]!.messages.length < history.length
    }

    expect([await summarized('small'), await summarized('large')]).toEqual([true, false])
  })

  it('is what a result may have, for the model that called the tool', async () => {
    const resultFor = async (model: string): Promise<number> => {
      const origin = { provider: 'scripted', model }
      const calling = { role: 'assistant' as const, contents: [call('c1')], origin }
      const client = scriptedClient([{ messages: [calling] }, 'Done.'])
      const work = tool({
        name: 'work',
        description: 'Works.',
        parameters: jsonSchema({ type: 'object' }),
        execute: () => 'word '.repeat(500),
      })
      const middleware = contentTruncator({ maxTokens: { share: 0.5, of: windows } })
      const { messages } = await new Agent({ client, tools: [work], middleware }).run('Hi')
      return JSON.stringify(messages.find(({ role }) => role === 'tool')).length
    }

    expect(await resultFor('small')).toBeLessThan(500)
    expect(await resultFor('large')).toBeGreaterThan(2_000)
    await expect(resultFor('strange')).rejects.toMatchObject({ code: 'window_unknown' })
  })

  it.each([
    [null, 'maxTokens.share'],
    [{ share: 0, of: models }, 'maxTokens.share'],
    [{ share: 1.1, of: models }, 'maxTokens.share'],
    [{ share: 0.5 }, 'maxTokens.of'],
    [{ share: 0.5, of: models, otherwise: 0 }, 'maxTokens.otherwise'],
  ])('is checked at construction: %j', (maxTokens, place) => {
    for (const make of [historyTruncator, summarizer, contentTruncator]) {
      expect(() => make({ maxTokens: maxTokens as never })).toThrow(`\`${place}\``)
    }
  })
})
