import { describeContract, middlewareContract, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { ChatContext } from '../index.ts'
import { Agent, message } from '../index.ts'
import type { MiddlewareOptions } from '../authoring.ts'
import {
  defineAgentMiddleware,
  defineChatMiddleware,
  defineFunctionMiddleware,
  reporter,
} from '../authoring.ts'

const shouting = (options: MiddlewareOptions<ChatContext, string> = {}) => {
  const report = reporter('shout', options.onEvent)
  return defineChatMiddleware('shout', options, async (context, callNext) => {
    report(context.run, 'shouted')
    const loud = { ...message('user', 'LOUD'), id: context.run.ids.createId('msg') }
    context.messages = [...context.messages, loud]
    await callNext()
  })
}
const seenBy = async (options?: MiddlewareOptions<ChatContext, string>) => {
  const client = scriptedClient(['Hi.'])
  const agent = new Agent({ client, middleware: [shouting(options)] })
  await agent.run('hello')
  return client.requests[0]?.messages.length
}

describe('a middleware made with the authoring kit', () => {
  it('works without options, and not at all where it is off or `when` says no', async () => {
    expect(await seenBy()).toBe(2)
    expect(await seenBy({ mode: 'off' })).toBe(1)
    expect(await seenBy({ when: async () => false })).toBe(1)
    expect(await seenBy({ when: () => true })).toBe(2)
  })

  it.each([defineAgentMiddleware, defineChatMiddleware, defineFunctionMiddleware])(
    'has the name that it is given, otherwise that of its role',
    (define) => {
      const process = async (): Promise<void> => {}

      expect(define('shout', {}, process)).toMatchObject({ name: 'shout', role: 'shout' })
      expect(define('shout', { name: 'cry' }, process)).toMatchObject({
        name: 'cry',
        role: 'shout',
      })
    },
  )

  it('does not wait for a `when` that hangs when the run is aborted', async () => {
    const client = scriptedClient([])
    const agent = new Agent({
      client,
      middleware: [shouting({ when: () => new Promise(() => {}) })],
    })
    const controller = new AbortController()
    const running = agent.run('hello', { signal: controller.signal })

    controller.abort(new Error('enough'))

    await expect(running).rejects.toThrow('enough')
  })

  it('tells the run, its observers and `onEvent` what it did, and survives what they throw', async () => {
    const told: unknown[] = []
    const agent = new Agent({
      client: scriptedClient(['Hi.', 'Hi.']),
      middleware: [
        {
          level: 'agent',
          name: 'observer',
          async process({ run }, callNext) {
            const stop = run.observe(({ type, data }) => told.push(['observer', type, data]))
            run.observe(() => {
              throw new Error('observer')
            })
            await callNext()
            stop()
            run.emit({ type: 'late' })
          },
        },
        shouting({
          onEvent(event) {
            told.push(['middleware', event])
            throw new Error('onEvent')
          },
        }),
      ],
    })

    await agent.run('hello')
    const { status } = await agent.run('hello', { stream: true }).finalResponse()

    const each = [
      ['observer', 'shout', 'shouted'],
      ['middleware', 'shouted'],
    ]
    expect(told).toEqual([...each, ...each])
    expect(status).toBe('completed')
  })
})

describeContract(middlewareContract({ create: () => shouting({ when: () => true }) }), {
  describe,
  it,
})
