import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { LifecycleHooks } from './index.ts'
import { Agent, agentMiddleware, jsonSchema, tool } from '@lamella/core'
import { lifecycle } from './index.ts'
import { interceptLoop } from '@lamella/core/authoring'

const echo = tool({
  name: 'echo',
  description: '',
  parameters: jsonSchema({ type: 'object', properties: { text: { type: 'string' } } }),
  execute: ({ text }) => text,
})

describe.each(runModes)('set-up, ends and wrapped calls of hooks, %s', (mode) => {
  it('a set-up that fails fails its run, and the next run tries it again', async () => {
    let attempts = 0
    const hooks = lifecycle({
      name: 'A',
      async setup() {
        if (attempts++ === 0) throw new Error('no database')
      },
    })
    const agent = new Agent({ client: scriptedClient(['Hi.']), middleware: hooks })

    await expect(runIn(mode, agent)).rejects.toThrow('no database')
    const { text } = await runIn(mode, agent)

    expect([text, attempts]).toEqual(['Hi.', 2])
  })

  it('a run that fails has not succeeded, also if it had a result', async () => {
    const log: string[] = []
    const turns: LifecycleHooks = {
      name: 'turns',
      afterTurnSucceeded: () => void log.push('succeeded'),
      afterTurn: () => void log.push('over'),
    }
    const failing = agentMiddleware('failing', async (context) => {
      context.result = 'Done.'
      throw new Error('too late')
    })
    const client = scriptedClient([])
    const middleware = [lifecycle(turns), failing]

    await expect(runIn(mode, new Agent({ client, middleware }))).rejects.toThrow('too late')

    expect(log).toEqual(['over'])
  })

  it('a batch that a stop leaves out has no results to tell of', async () => {
    const errors: unknown[] = []
    const stopping = agentMiddleware('stopping', async ({ run }, callNext) => {
      interceptLoop(run, { name: 'stopping', batch: async () => run.stop('enough') })
      await callNext()
    })
    const watching = lifecycle({
      name: 'watching',
      onError: ({ error }) => void errors.push(error),
    })
    const client = scriptedClient([callFunction('echo', { text: 'a' }, 'c1')])
    const middleware = [watching, stopping]

    const { status } = await runIn(mode, new Agent({ client, tools: [echo], middleware }))

    expect([status, errors]).toEqual(['terminated', []])
  })

  it('what wraps a model call may replace its response, and sees the model', async () => {
    const models: unknown[] = []
    const replace: LifecycleHooks = {
      name: 'replace',
      async wrapModelCall(request, handler) {
        models.push(request.model, request.override({ instructions: 'Be brief.' }).options.model)
        await handler(request.override({ model: 'large' }))
        return 'Replaced.'
      },
    }
    const client = Object.assign(scriptedClient(['One.', 'Two.']), { model: 'small' })
    const agent = new Agent({ client, middleware: lifecycle(replace) })

    const first = await runIn(mode, agent)
    const second = await runIn(mode, agent, { options: { model: 'medium' } })

    expect([first.text, second.text]).toEqual(['Replaced.', 'Replaced.'])
    expect(models).toEqual(['small', undefined, 'medium', 'medium'])
    expect(client.requests.map(({ options }) => options.model)).toEqual(['large', 'large'])
  })

  it('what wraps a call and changes nothing leaves the call and its response as they are', async () => {
    const log: string[] = []
    const wrap: LifecycleHooks = {
      name: 'wrap',
      wrapModelCall: (request, handler) => handler(request.override({})),
      async wrapFunctionCall(request, handler) {
        log.push(JSON.stringify(request.override({}).arguments))
        return handler(request.override({}))
      },
    }
    const client = scriptedClient([callFunction('echo', { text: 'a' }, 'c1'), 'Done.'])
    const agent = new Agent({ client, tools: [echo], middleware: lifecycle(wrap) })
    const stream = agent.run('Go', { stream: true })

    for await (const { restart } of stream) log.push(...(restart === true ? ['restart'] : []))

    expect((await stream.finalResponse()).text).toBe('Done.')
    expect(log).toEqual(['{"text":"a"}'])
  })
})
