import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { Agent, message, tool } from '../index.ts'

describe.each(runModes)('calls of an answer that is not complete, %s', (mode) => {
  const make = (script: Parameters<typeof scriptedClient>[0]) => {
    const written: unknown[] = []
    const write = tool({
      name: 'write',
      description: '',
      execute: (args) => (written.push(args), 'written'),
    })
    const client = scriptedClient(script)
    return { written, client, agent: new Agent({ client, tools: [write] }) }
  }
  const cut = (finishReason: string) => ({
    messages: [message('assistant', callFunction('write', { path: 'a' }, 'c1'))],
    finishReason,
  })

  it('do not run after `length`: the model reads why and is asked again', async () => {
    const whole = callFunction('write', { path: 'b' }, 'c2')
    const { agent, client, written } = make([cut('length'), whole, 'Done.'])

    const { text } = await runIn(mode, agent)

    expect(text).toBe('Done.')
    expect(written).toEqual([{ path: 'b' }])
    expect(JSON.stringify(client.requests[1]!.messages.at(-1))).toContain('cut off')
  })

  it('do not run after `length` for ever: tools are off after three of them', async () => {
    const { agent, client, written } = make(({ options }) =>
      options.toolChoice === 'none' ? 'I give up.' : cut('length'),
    )

    const { reason } = await runIn(mode, agent)

    expect(reason).toBe('max_consecutive_errors')
    expect([client.requests.length, written]).toEqual([4, []])
  })

  it.each(['content-filter', 'error'])(
    'do not run after `%s`, which is the reason of the end',
    async (why) => {
      const { agent, client, written } = make([cut(why)])

      const { status, reason, finishReason } = await runIn(mode, agent)

      expect({ status, reason, finishReason }).toEqual({
        status: 'completed',
        reason: why,
        finishReason: why,
      })
      expect([client.requests.length, written]).toEqual([1, []])
    },
  )
})
