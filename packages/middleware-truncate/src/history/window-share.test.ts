import { Agent, chatMiddleware, withMiddleware } from '@lamella/core'
import { models } from '@lamella/models'
import { scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { historyTruncator } from '../index.ts'
import { say, talk } from '../turns/conversation.test-helper.ts'

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

  it.each([
    [{ share: 0, of: models }, 'maxTokens.share'],
    [{ share: 1.1, of: models }, 'maxTokens.share'],
    [{ share: 0.5 }, 'maxTokens.of'],
    [{ share: 0.5, of: models, otherwise: 0 }, 'maxTokens.otherwise'],
  ])('is checked at construction: %j', (maxTokens, place) => {
    expect(() => historyTruncator({ maxTokens: maxTokens as never })).toThrow(`\`${place}\``)
  })
})
