import { callFunction, scriptedClient } from '@lamella/testing'
import type { ScriptedStep } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { Agent, createSession, jsonSchema, textOf, tool } from '../index.ts'
import { modes, outline, play, playOn, resultsOf } from '../loop/loop-invariant.test-helper.ts'

describe.each(modes)('a tool that is only declared, $name', ({ stream }) => {
  function make(steps: readonly ScriptedStep[]) {
    const client = scriptedClient(steps)
    const ran: string[] = []
    const locate = tool({
      name: 'locate',
      description: 'Runs in the browser.',
      parameters: jsonSchema({
        type: 'object',
        properties: { exact: { type: 'boolean' } },
        required: ['exact'],
      }),
    })
    const look = tool({ name: 'look', description: '', execute: () => void ran.push('looked') })
    const gated = tool({
      name: 'gated',
      description: '',
      approval: 'always',
      execute: () => void ran.push('gated'),
    })
    return { client, ran, agent: new Agent({ client, tools: [locate, look, gated] }) }
  }

  const locate = (callId: string) => callFunction('locate', { exact: true }, callId)
  const look = (callId: string) => callFunction('look', {}, callId)

  it('pauses the run with its call, without a result', async () => {
    const { agent, client } = make([locate('c1')])

    const { response, updates } = await play(agent, 'Where am I?', { stream })

    expect(response).toMatchObject({
      status: 'paused',
      pending: [{ kind: 'function-call', call: { callId: 'c1', name: 'locate' } }],
    })
    expect(outline(response.messages)).toEqual(['assistant: locate(c1)'])
    expect(client.requests).toHaveLength(1)
    const shown = updates.flatMap(({ contents }) =>
      contents.filter(({ type }) => type === 'function-call'),
    )
    expect(new Set(shown.map((call) => 'callId' in call && call.callId)).size).toBe(stream ? 1 : 0)
  })

  it.each<[string, unknown, string]>([
    ['a text', 'In Rome.', 'In Rome.'],
    ['a value', { city: 'Rome' }, '{"city":"Rome"}'],
    ['nothing', undefined, ''],
    ['parts', [{ type: 'text', text: 'Rome' }], 'Rome'],
  ])('continues with what the caller answers: %s', async (_, answer, expected) => {
    const { agent, client } = make([locate('c1'), 'You are in Rome.'])
    const { response: paused } = await play(agent, 'Where am I?', { stream })

    const { response } = await playOn(
      agent,
      paused.checkpoint,
      { [paused.pending[0]!.id]: answer },
      { stream },
    )

    expect(resultsOf(response.messages).map(({ contents }) => textOf(contents))).toEqual([expected])
    expect(response).toMatchObject({ status: 'completed', text: 'You are in Rome.' })
    expect(client.requests[1]!.messages).toHaveLength(3)
  })

  it('holds up only its own call: siblings run', async () => {
    const { agent, ran } = make([[look('c1'), locate('c2'), look('c3')], 'Done.'])

    const { response: paused } = await play(agent, 'Go', { stream })
    const { response } = await playOn(
      agent,
      paused.checkpoint,
      { [paused.pending[0]!.id]: 'Rome' },
      { stream },
    )

    expect(outline(paused.messages)).toEqual([
      'assistant: look(c1), locate(c2), look(c3)',
      'tool: c1 = , c3 = ',
    ])
    expect(ran).toEqual(['looked', 'looked'])
    expect(outline(response.messages)).toEqual(['tool: c2 = Rome', 'assistant: Done.'])
  })

  it.each([
    ['before', [callFunction('locate', { exact: true }, 'c1'), callFunction('gated', {}, 'c2')]],
    ['after', [callFunction('gated', {}, 'c2'), callFunction('locate', { exact: true }, 'c1')]],
  ])('%s one to approve, both are asked for', async (_, calls) => {
    const { agent } = make([calls])

    const { response } = await play(agent, 'Go', { stream })

    expect(response.pending.map(({ kind }) => kind).toSorted()).toEqual([
      'approval',
      'function-call',
    ])
  })

  it('with invalid arguments is an error result at once', async () => {
    const { agent } = make([callFunction('locate', {}, 'c1'), 'Sorry.'])

    const { response } = await play(agent, 'Go', { stream })

    expect(outline(response.messages)).toEqual([
      'assistant: locate(c1)',
      'tool: c1 = invalid_arguments',
      'assistant: Sorry.',
    ])
  })

  it('may be answered in a session by the next run', async () => {
    const { agent, client } = make([locate('c1'), 'You are in Rome.'])
    const session = createSession()
    await play(agent, 'Where am I?', { session, stream })

    const response = await agent.run([], { session, answers: { c1: 'Rome' } })

    expect(response.text).toBe('You are in Rome.')
    expect(outline(client.requests[1]!.messages)).toEqual([
      'user: Where am I?',
      'assistant: locate(c1)',
      'tool: c1 = Rome',
    ])
  })
})
