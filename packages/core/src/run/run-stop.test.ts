import { runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { Stop } from '../contract/outcome.ts'
import { Agent, agentMiddleware, chatMiddleware, defineState, messageText } from '../index.ts'

describe.each(runModes)('a requested stop, %s', (mode) => {
  it('can be read by other middlewares', async () => {
    const seen: (Stop | undefined)[] = []
    const stop = chatMiddleware('stop', async ({ run }, callNext) => {
      seen.push(run.stopped)
      await callNext()
      run.stop('enough', { response: 'Stopped.' })
    })
    const reads = agentMiddleware('reads', async ({ run }, callNext) => {
      await callNext()
      seen.push(run.stopped)
    })

    await runIn(mode, new Agent({ client: scriptedClient(['Hi.']), middleware: [reads, stop] }))

    expect(seen).toEqual([undefined, { reason: 'enough', response: 'Stopped.' }])
  })

  it('before the loop ends a run that a middleware answers itself', async () => {
    const client = scriptedClient([])
    const reply = agentMiddleware('reply', (context) => {
      context.run.stop('closed', { response: 'Come back later.' })
      context.result = 'We are closed.'
    })

    const response = await runIn(mode, new Agent({ client, middleware: reply }))

    expect(response).toMatchObject({ status: 'terminated', reason: 'closed' })
    expect(response.messages.map(messageText)).toEqual(['We are closed.', 'Come back later.'])
    expect(client.requests).toEqual([])
  })

  it('is reverted with the state of a batch that fails', async () => {
    const strikes = defineState({ name: 'strikes', initial: () => 0 })
    const stop = chatMiddleware('stop', async ({ run }, callNext) => {
      await callNext()
      expect(() =>
        run.state.batch(() => {
          run.state.update(strikes, (count) => count + 1)
          run.stop('three strikes')
          throw new Error('not yet')
        }),
      ).toThrow('not yet')
      expect(run.state.get(strikes)).toBe(0)
      expect(run.stopped).toBeUndefined()
    })

    const response = await runIn(
      mode,
      new Agent({ client: scriptedClient(['Hi.']), middleware: stop }),
    )

    expect(response).toMatchObject({ status: 'completed', text: 'Hi.' })
  })

  it('stays when its batch succeeds, and an earlier one when a later batch fails', async () => {
    const stop = chatMiddleware('stop', async ({ run }, callNext) => {
      await callNext()
      run.state.batch(() => run.stop('first'))
      expect(() =>
        run.state.batch(() => {
          run.stop('second')
          throw new Error('no')
        }),
      ).toThrow('no')
    })

    const response = await runIn(
      mode,
      new Agent({ client: scriptedClient(['Hi.']), middleware: stop }),
    )

    expect(response).toMatchObject({ status: 'terminated', reason: 'first' })
  })
})
