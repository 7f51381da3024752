import { callFunction, runIn, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentOptions, Message, MessageInput } from '../index.ts'
import { Agent, agentMiddleware, chatMiddleware, foldUpdates, messageText, tool } from '../index.ts'
import { agentPipeline, chatPipeline } from '../authoring.ts'
import { lifecycle } from '@lamella/lifecycle'
import { readUpdates } from '../run/run.test-helper.ts'

const signed: MessageInput = [
  {
    id: 'm1',
    role: 'assistant',
    authorName: 'Desk',
    createdAt: '2026-01-01T00:00:00Z',
    metadata: { shift: 'night' },
    contents: [{ type: 'text', text: 'We are closed.' }],
  },
]

const detailsOf = (messages: readonly Message[]) =>
  messages.map((entry) => {
    const { authorName, createdAt, metadata } = entry
    return [messageText(entry), authorName, createdAt, metadata]
  })
const details = ['We are closed.', 'Desk', '2026-01-01T00:00:00Z', { shift: 'night' }]

/** Lets all updates of a run pass as they are. */
const passing = agentMiddleware('passing', async (context, callNext) => {
  context.transformUpdates({ transform: (update, controller) => controller.enqueue(update) })
  await callNext()
})

describe('author, time and metadata of a message', () => {
  const cases: Record<string, Partial<AgentOptions>> = {
    'with which a run is stopped': {
      middleware: lifecycle({
        name: 'stop',
        beforeTurn: ({ run }) => run.stop('closed', { response: { messages: signed } }),
      }),
    },
    'with which a run is stopped that a middleware answers': {
      middleware: agentMiddleware('answer', (context) => {
        context.run.stop('closed', { response: { messages: signed } })
        context.result = { messages: [] }
      }),
    },
    'that replaces an answer': {
      middleware: lifecycle({
        name: 'replace',
        afterModelCall: ({ run }) =>
          run.messages.rewrite((messages) => [
            ...messages.slice(0, -1),
            { ...messages.at(-1)!, ...(signed[0] as Message), id: messages.at(-1)!.id },
          ]),
      }),
    },
  }

  it.each(Object.keys(cases))('%s are in response and updates', async (name) => {
    const agentOf = () => new Agent({ client: scriptedClient(['Hello.']), ...cases[name] })

    const plain = await runIn('plain', agentOf())
    const { updates, response } = await readUpdates(agentOf())

    expect(detailsOf(plain.messages)).toEqual([details])
    expect(detailsOf(response.messages)).toEqual([details])
    expect(detailsOf(foldUpdates(updates).messages)).toEqual([details])
  })

  it.each(Object.keys(cases))('%s outlive a transform of the run', async (name) => {
    const { middleware } = cases[name]!
    const agent = new Agent({
      client: scriptedClient(['Hello.']),
      middleware: [passing, middleware].flat() as AgentOptions['middleware'],
    })

    expect(detailsOf((await readUpdates(agent)).response.messages)).toEqual([details])
  })

  it('that a loop of one’s own adds are in response and updates', async () => {
    const client = scriptedClient(['A draft.'])
    const stream = agentPipeline(passing).stream(
      { client, messages: 'Hi' },
      async ({ run, messages }, add) => {
        await chatPipeline([]).execute({ run, client, messages })
        add(signed)
      },
    )
    const updates = []
    for await (const update of stream) updates.push(update)

    expect(detailsOf((await stream.finalResponse()).messages)).toEqual([details])
    expect(detailsOf(foldUpdates(updates).messages)).toEqual([details])
  })
})

describe('the name of an agent', () => {
  const look = tool({ name: 'look', description: '', execute: () => 'found' })
  const agentOf = (middleware: AgentOptions['middleware'] = []) =>
    new Agent({
      name: 'writer',
      client: scriptedClient([callFunction('look', {}, 'c1'), 'Done.']),
      tools: [look],
      middleware,
    })
  const authorsOf = (messages: readonly Message[]) =>
    messages.map(({ role, authorName }) => `${role} ${authorName}`)
  const named = ['assistant writer', 'tool writer', 'assistant writer']

  it.each([
    ['of a model and of tools', [], named],
    [
      'that middleware puts in place',
      chatMiddleware('answer', (context) => void (context.result = 'Mine.')),
      ['assistant writer'],
    ],
    [
      'of a run that is stopped',
      agentMiddleware('stop', async ({ run }, callNext) => {
        run.stop('closed', { response: 'Closed.' })
        await callNext()
      }),
      ['assistant writer'],
    ],
  ])(
    'is the author of all messages %s, in session, response and updates',
    async (_, middleware, expected) => {
      const agent = agentOf(middleware)
      const session = agent.createSession()
      await agent.run('Hi', { session })
      const { updates, response } = await readUpdates(agentOf(middleware))

      expect(authorsOf(session.messages)).toEqual(['user undefined', ...expected])
      expect(authorsOf(response.messages)).toEqual(expected)
      expect(authorsOf(foldUpdates(updates).messages)).toEqual(expected)
    },
  )
})
