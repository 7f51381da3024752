import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { Agent, chatMiddleware, foldUpdates, functionMiddleware, text } from '../index.ts'
import { readUpdates } from '../run/run.test-helper.ts'
import type { Transformer } from './transform-updates.test-helper.ts'
import { transforming, look } from './transform-updates.test-helper.ts'

describe('transforms while a stream is read', () => {
  it.each(['one', 'many'])('what the provider sent is not in %s that replaced it', async (how) => {
    const update = { contents: [text('A secret.')], raw: { text: 'A secret.' } }
    const client = scriptedClient([{ updates: [update, update] }])
    const redact: Transformer = {
      transform(given, controller) {
        const count = how === 'many' ? 2 : 1
        for (let at = 0; at < count; at++) controller.enqueue({ ...given, contents: [text('***')] })
      },
    }

    const { updates } = await readUpdates(new Agent({ client, middleware: transforming(redact) }))

    expect(JSON.stringify(updates)).toContain('***')
    expect(JSON.stringify(updates)).not.toContain('A secret.')
  })

  it('each update is passed on before the next one is asked for', async () => {
    const log: string[] = []
    const noting: Transformer = {
      transform(update, controller) {
        log.push(`in ${update.contents.length}`)
        controller.enqueue(update)
      },
    }
    const client = scriptedClient(['a b c'])
    const stream = new Agent({ client, middleware: transforming(noting) }).run('Hello', {
      stream: true,
    })

    for await (const update of stream) log.push(`out ${update.contents.length}`)

    expect(log).toEqual(['in 1', 'out 1', 'in 1', 'out 1', 'in 1', 'out 1', 'in 0', 'out 0'])
  })

  it('ending the updates of a call closes its source', async () => {
    const first: Transformer = {
      transform(update, controller) {
        controller.enqueue(update)
        controller.terminate()
      },
    }
    const client = scriptedClient([{ updates: ['one', 'two'], hang: true }])

    const { updates } = await readUpdates(new Agent({ client, middleware: transforming(first) }))

    expect(foldUpdates(updates).text).toBe('one')
    expect(client.openStreams).toBe(0)
  })

  it('ending the updates of a run ends it, and no tool runs that its cut answer calls', async () => {
    const first: Transformer = {
      transform(update, controller) {
        controller.enqueue(update)
        if (update.contents.length > 0) controller.terminate()
      },
    }
    const client = scriptedClient([{ updates: ['one', callFunction('look'), 'two'], hang: true }])
    const middleware = transforming(first, 'agent')

    const { response, updates } = await readUpdates(
      new Agent({ client, tools: [look], middleware }),
    )

    expect([response.text, response.status]).toEqual(['one', 'completed'])
    expect(foldUpdates(updates).messages).toEqual(response.messages)
    expect([client.requests.length, client.openStreams]).toEqual([1, 0])
  })

  it('events pass even after the updates of a run have ended', async () => {
    const first: Transformer = {
      transform(update, controller) {
        controller.enqueue(update)
        if (update.contents.length > 0) controller.terminate()
      },
    }
    const telling = chatMiddleware('telling', async ({ run }, callNext) => {
      await callNext()
      run.emit({ type: 'late' })
    })
    const agent = new Agent({
      client: scriptedClient(['one two'], { chunk: 4 }),
      middleware: [transforming(first, 'agent'), telling],
    })

    const { updates } = await readUpdates(agent)

    expect(foldUpdates(updates).text).toBe('one ')
    expect(updates.at(-1)?.event?.type).toBe('late')
  })

  it('an event before the first update waits until a transform has started', async () => {
    const log: string[] = []
    const slow = transforming(
      {
        async start() {
          await new Promise((resolve) => setTimeout(resolve))
          log.push('started')
        },
        transform(update, controller) {
          if (update.event !== undefined) log.push(update.event.type)
          controller.enqueue(update)
        },
      },
      'agent',
    )
    const telling = chatMiddleware('telling', ({ run }, callNext) => {
      run.emit({ type: 'begins' })
      return callNext()
    })
    const client = scriptedClient(['Done.'])

    await readUpdates(new Agent({ client, middleware: [slow, telling] }))

    expect(log).toEqual(['started', 'begins'])
  })

  it('no content follows an event on which a transform failed', async () => {
    const failing: Transformer = {
      transform(update, controller) {
        if (update.event?.type === 'looking') throw new Error('broken')
        controller.enqueue(update)
      },
    }
    const telling = functionMiddleware('telling', async ({ run }, callNext) => {
      run.emit({ type: 'looking' })
      await callNext()
    })
    const client = scriptedClient([callFunction('look'), 'Done.'])
    const middleware = [transforming(failing, 'agent'), telling]
    const stream = new Agent({ client, tools: [look], middleware }).run('Hello', { stream: true })
    const seen: string[] = []
    const reading = (async () => {
      for await (const { contents } of stream) seen.push(...contents.map(({ type }) => type))
    })()

    await expect(reading).rejects.toThrow('broken')
    expect(seen).toEqual(['function-call'])
  })

  it('an event that a transform still holds when the run fails comes before the error', async () => {
    const slow: Transformer = {
      async transform(update, controller) {
        await new Promise((resolve) => setTimeout(resolve))
        controller.enqueue(update)
      },
    }
    const failing = chatMiddleware('failing', async ({ run }) => {
      run.emit({ type: 'failing' })
      throw new Error('broken')
    })
    const middleware = [transforming(slow, 'agent'), failing]
    const stream = new Agent({ client: scriptedClient([]), middleware }).run('Hello', {
      stream: true,
    })
    const iterator = stream[Symbol.asyncIterator]()

    expect((await iterator.next()).value?.event?.type).toBe('failing')
    await expect(iterator.next()).rejects.toThrow('broken')
  })
})
