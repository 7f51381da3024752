import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import type { ChatResponse } from '../index.ts'
import type { LoopState } from '../contract/chat-options.ts'
import { Agent, chatMiddleware, tool } from '../index.ts'

const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })

describe('context.repeat', () => {
  test.each(runModes)(
    'goes through all middlewares from what the outermost was given, %s',
    async (mode) => {
      const seen: string[] = []
      let repeated: Promise<ChatResponse> | undefined
      const outer = chatMiddleware('outer', async (context, callNext) => {
        seen.push(`outer ${context.messages.length} ${context.options.seed}`)
        context.messages = [...context.messages, ...context.messages]
        await callNext()
      })
      const refresher = chatMiddleware('refresher', async (context, callNext) => {
        seen.push(`refresher ${context.messages.length}`)
        if (context.options.seed === undefined) repeated = context.repeat({ seed: 7 })
        await callNext()
      })
      const client = scriptedClient(({ options }) => `seed ${options.seed}`)
      const agent = new Agent({ client, middleware: [outer, refresher] })

      const response = await runIn(mode, agent)

      expect(response.text).toBe('seed undefined')
      expect((await repeated)?.text).toBe('seed 7')
      expect(seen.toSorted()).toEqual(
        ['outer 1 undefined', 'refresher 2', 'outer 1 7', 'refresher 2'].toSorted(),
      )
    },
  )

  test('outlives the run, which learns nothing of it', async () => {
    let repeated: Promise<ChatResponse> | undefined
    let release = (): void => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const middleware = chatMiddleware('stale', async (context, callNext) => {
      if (context.options.seed === 7) return void (await callNext())
      repeated = context.repeat({ seed: 7 })
      context.result = 'stale'
    })
    const client = scriptedClient(async () => {
      await released
      return 'fresh'
    })
    const stream = new Agent({ client, middleware }).run('Hi', { stream: true })

    const response = await stream.finalResponse()
    release()

    expect(response.text).toBe('stale')
    expect(response.usage).toEqual({})
    expect((await repeated)?.text).toBe('fresh')
  })

  test('ends with its own signal, not with that of the run', async () => {
    const own = new AbortController()
    const ofRun = new AbortController()
    let repeated: Promise<ChatResponse> | undefined
    const middleware = chatMiddleware('stale', async (context, callNext) => {
      if (context.options.seed === 7) return void (await callNext())
      repeated = context.repeat({ seed: 7 }, own.signal)
      context.result = 'stale'
    })
    const client = scriptedClient([{ updates: [], hang: true }])
    await new Agent({ client, middleware }).run('Hi', { signal: ofRun.signal })

    ofRun.abort(new Error('the run'))
    const reason = new Error('the refresh')
    own.abort(reason)

    await expect(repeated).rejects.toBe(reason)
  })

  test('is of the same round', async () => {
    const rounds: string[] = []
    const repeated: Promise<ChatResponse>[] = []
    const middleware = chatMiddleware('again', async (context, callNext) => {
      const { iteration, options } = context
      if (options.seed === 7) rounds.push(`repeated ${iteration}`)
      else repeated.push(context.repeat({ seed: 7 }))
      await callNext()
    })
    const toolChoice = ({ iteration }: LoopState) => {
      rounds.push(`chosen ${iteration}`)
      return 'auto' as const
    }
    const client = scriptedClient(({ messages }) =>
      messages.length === 1 ? callFunction('look') : 'Done.',
    )
    await new Agent({ client, tools: [look], middleware, options: { toolChoice } }).run('Hi')
    await Promise.all(repeated)

    expect(rounds.filter((round) => round.startsWith('chosen')).toSorted()).toEqual([
      'chosen 0',
      'chosen 0',
      'chosen 1',
      'chosen 1',
    ])
    expect(rounds.filter((round) => round.startsWith('repeated'))).toEqual([
      'repeated 0',
      'repeated 1',
    ])
  })

  test('is left alone by its signal once it is done', async () => {
    const own = new AbortController()
    const signals: AbortSignal[] = []
    let repeated: Promise<ChatResponse> | undefined
    const middleware = chatMiddleware('again', async (context, callNext) => {
      if (context.options.seed === 7) signals.push(context.run.signal)
      else repeated = context.repeat({ seed: 7 }, own.signal)
      await callNext()
    })
    await new Agent({ client: scriptedClient(() => 'Done.'), middleware }).run('Hi')
    await repeated

    own.abort()

    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  })
})
