import type { Middleware } from '@lamella/core'
import { Agent, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { expect, it } from 'vitest'
import { again, note, overloaded, recorded, shout } from '../recording.test-helper.ts'
import { replayOf } from './replay-of.ts'

const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })

it('makes a scripted client with which a run goes as it went', async () => {
  const text: string[] = []
  const steps = [
    [callFunction('look', { at: 1 }, 'provider-id'), callFunction('look', {}, 'provider-id-2')],
    { updates: ['One '], error: overloaded() },
    {
      updates: [
        'Two ',
        { type: 'reasoning' as const, text: 'hm' },
        'three.',
        { finishReason: 'stop' as const },
      ],
    },
  ]
  const first = await recorded({ capture: 'full' }, async (record) => {
    const middleware = record.middleware([again(), note(), shout()])
    const agent = new Agent({ client: scriptedClient(steps), tools: [look], middleware })
    text.push((await agent.run('Hi', { stream: true }).finalResponse()).text)
  })

  const replay = replayOf(first.text)
  const second = await recorded({ capture: 'full' }, async (record) => {
    const middleware = record.middleware([again(), note(), shout()]) as readonly Middleware[]
    const agent = new Agent({ client: scriptedClient(replay.steps), tools: [look], middleware })
    text.push((await agent.run(replay.input, { stream: true }).finalResponse()).text)
  })

  expect(text[1]).toBe(text[0])
  expect(replay.steps).toHaveLength(3)
  expect(second.of('call').map(({ type, name }) => [type, name])).toEqual(
    first.of('call').map(({ type, name }) => [type, name]),
  )
  expect(second.of('msg').map(({ role, parts }) => [role, parts])).toEqual(
    first.of('msg').map(({ role, parts }) => [role, parts]),
  )
})

it('joins fragments of a call that only the first names', async () => {
  const fragment = (args: string, callId = '', name = '') => ({
    contents: [{ type: 'function-call' as const, callId, name, arguments: args, index: 0 }],
  })
  const { text } = await recorded({ capture: 'full' }, async (record) => {
    const updates = [
      fragment('{"a', 'c1', 'look'),
      { contents: [{ ...fragment('t":1}').contents[0]!, callId: 'c1' }] },
      { finishReason: 'tool-calls' as const },
    ]
    const agent = new Agent({
      client: scriptedClient([{ updates }, 'Done.']),
      tools: [look],
      middleware: record.middleware(),
    })
    await agent.run('Hi', { stream: true }).finalResponse()
  })

  const agent = new Agent({ client: scriptedClient(replayOf(text).steps), tools: [look] })
  const { messages } = await agent.run('Hi')

  expect(messages[0]?.contents).toMatchObject([
    { type: 'function-call', name: 'look', arguments: '{"at":1}' },
  ])
})

it('says what is missing', async () => {
  const facts = await recorded({}, (record) =>
    new Agent({ client: scriptedClient(['Hi.']), middleware: record.middleware() }).run('Hi'),
  )
  const cut = await recorded({ capture: 'full', maxTextChars: 3 }, (record) =>
    new Agent({
      client: scriptedClient([callFunction('look', { at: 1 }), 'Hi.']),
      tools: [look],
      middleware: record.middleware(),
    }).run('Hi'),
  )

  expect(() => replayOf('')).toThrow('replayOf: the recording has no run')
  expect(() => replayOf(facts.text)).toThrow("must be made with `capture: 'full'`, got 'facts'")
  expect(() => replayOf(cut.text)).toThrow('replayOf: a text was cut off at `maxTextChars`')
})
