import { HumanMessage } from '@langchain/core/messages'
import type { BaseMessage } from '@langchain/core/messages'
import { agentMiddleware, chatMiddleware, createSession } from '@lamella/core'
import type { RunContext } from '@lamella/core'
import { pii } from '@lamella/guardrail-pii'
import { toolPolicy } from '@lamella/guardrail-tools'
import { budget } from '@lamella/middleware-budget'
import { Command, interrupt, MemorySaver } from '@langchain/langgraph'
import * as fc from 'fast-check'
import { createAgent, tool } from 'langchain'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { lamellaMiddleware } from './index.ts'
import { PlannedModel, scripted } from './planned-model.test-helper.ts'

const input = (text: string) => ({ messages: [new HumanMessage(text)] })

function mailTool(sent: string[] = []) {
  return tool(
    ({ to }) => {
      if (to === 'nobody') throw new Error('no such address')
      sent.push(to)
      return `Sent to ${to}.`
    },
    { name: 'mail', description: 'Sends a mail.', schema: z.object({ to: z.string() }) },
  )
}

const conversation = fc.record({
  name: fc.constantFrom('ada', 'grace', 'alan', 'kathleen'),
  calls: fc.nat(3),
  answer: fc.stringMatching(/^[a-z ]{0,12} ME[ ,.][a-z ]{0,12}$/),
  isStreamed: fc.boolean(),
})

test('runs at once: the model reads no address, each tool and each reader gets its own', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(conversation, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 9 }),
      async (conversations, pieceChars) => {
        const addresses = conversations.map(({ name }, at) => `${name}${at}@example.com`)
        const sent: string[] = []
        const model = new PlannedModel((messages) => {
          const [, number = '', mine = ''] = /^(\d+): (\S+)/.exec(messages[0]!.text) ?? []
          const { calls, answer } = conversations[Number(number)]!
          const made = messages.filter(({ type }) => type === 'ai').length
          return made < calls ? { call: 'mail', args: { to: mine } } : answer.replace('ME', mine)
        }, pieceChars)
        const agent = createAgent({
          model,
          tools: [mailTool(sent)],
          middleware: [
            lamellaMiddleware([pii({ vault: true }), budget({ limits: { modelCalls: 4 } })]),
          ] as const,
        })

        const read = await Promise.all(
          conversations.map(async ({ isStreamed }, at) => {
            const question = input(`${at}: ${addresses[at]!} asks.`)
            if (!isStreamed) return (await agent.invoke(question)).messages.at(-1)!.text
            let text = ''
            const stream = await agent.stream(question, { streamMode: 'messages' })
            for await (const [chunk] of stream as AsyncIterable<[BaseMessage]>) {
              if (chunk.type === 'ai') text += chunk.text
            }
            return text
          }),
        )

        expect(read).toEqual(
          conversations.map(({ answer }, at) => answer.replace('ME', addresses[at]!)),
        )
        expect(JSON.stringify(model.seen)).not.toContain('@example.com')
        expect(sent.toSorted()).toEqual(
          conversations
            .flatMap(({ calls }, at) => Array<string>(calls).fill(addresses[at]!))
            .toSorted(),
        )
      },
    ),
    { numRuns: 60 },
  )
})

describe('a run', () => {
  test('that is aborted ends for its middleware, too', async () => {
    const ending = new AbortController()
    const ends: unknown[] = []
    const watch = agentMiddleware('watch', async (context, callNext) => {
      try {
        await callNext()
      } finally {
        ends.push(context.run.signal.aborted)
      }
    })
    const model = new PlannedModel(() => {
      ending.abort(new Error('enough'))
      return new Promise<string>(() => {})
    })
    const agent = createAgent({ model, tools: [], middleware: [lamellaMiddleware(watch)] as const })

    await expect(agent.invoke(input('Hi'), { signal: ending.signal })).rejects.toThrow('enough')
    await expect.poll(() => ends).toEqual([true])
  })

  test('belongs to whom `owner` names', async () => {
    const runs: RunContext[] = []
    const note = chatMiddleware('note', async ({ run }, callNext) => {
      runs.push(run)
      await callNext()
    })
    const session = createSession()
    const agent = createAgent({
      model: scripted(['Hi.']),
      tools: [],
      contextSchema: z.object({ user: z.string() }),
      middleware: [
        lamellaMiddleware(note, {
          owner: ({ context }) => ({
            tenant: 'acme',
            principal: (context as { user: string }).user,
            session,
          }),
        }),
      ] as const,
    })

    await agent.invoke(input('Hi'), { context: { user: 'ada' } })

    expect(runs).toMatchObject([{ tenant: 'acme', principal: 'ada' }])
    expect(runs[0]!.session?.id).toBe(session.id)
  })

  test('lets the model read that a tool failed', async () => {
    const agent = createAgent({
      model: scripted([{ call: 'mail', args: { to: 'nobody' } }, 'Sorry.']),
      tools: [mailTool()],
      middleware: [lamellaMiddleware(pii())] as const,
    })

    const { messages } = await agent.invoke(input('Go.'))

    expect(messages.map(({ text }) => text).slice(2)).toEqual(['Error: Function failed.', 'Sorry.'])
  })

  test('pauses where a tool asks by LangGraph, and continues', async () => {
    const ask = tool(({ to }) => `${to}: ${String(interrupt(`Mail ${to}?`))}`, {
      name: 'mail',
      description: 'Sends a mail.',
      schema: z.object({ to: z.string() }),
    })
    const agent = createAgent({
      model: scripted([{ call: 'mail', args: { to: 'ada' } }, 'Done.']),
      tools: [ask],
      checkpointer: new MemorySaver(),
      middleware: [lamellaMiddleware(pii())] as const,
    })
    const thread = { configurable: { thread_id: '1' } }

    const paused = await agent.invoke(input('Go.'), thread)
    const { messages } = await agent.invoke(new Command({ resume: 'yes' }), thread)

    expect(paused).toMatchObject({ __interrupt__: [{ value: 'Mail ada?' }] })
    expect(messages.map(({ text }) => text).slice(2)).toEqual(['ada: yes', 'Done.'])
  })

  test('rejects if a tool needs an approval', async () => {
    const sent: string[] = []
    const agent = createAgent({
      model: scripted([{ call: 'mail', args: { to: 'a@example.org' } }, 'Done.']),
      tools: [mailTool(sent)],
      middleware: [lamellaMiddleware(toolPolicy({ ask: ['mail'] }))] as const,
    })

    await expect(agent.invoke(input('Go.'))).rejects.toThrow('humanInTheLoopMiddleware')
    expect(sent).toEqual([])
  })

  test('ends as the oldest one when there are more than `maxOpenRuns`', async () => {
    const failures: unknown[] = []
    const watch = agentMiddleware('watch', async (_, callNext) => {
      await callNext().catch((error: unknown) => {
        failures.push(error)
        throw error
      })
    })
    const agent = createAgent({
      model: scripted([{ call: 'mail', args: { to: 'nobody' } }]),
      tools: [mailTool()],
      middleware: [lamellaMiddleware(watch, { maxOpenRuns: 1 })] as const,
    })

    await Promise.allSettled([agent.invoke(input('1')), agent.invoke(input('2'))])

    expect(failures.length).toBeGreaterThan(0)
  })

  test('whose answer begins again after a part was read says that LangChain cannot take it back', async () => {
    const twice = chatMiddleware('twice', async (context, callNext) => {
      await callNext()
      context.result = undefined as never
      await callNext()
    })
    const agent = createAgent({
      model: scripted(['One.', 'Two.']),
      tools: [],
      middleware: [lamellaMiddleware(twice)] as const,
    })
    const read = async () => {
      for await (const _ of await agent.stream(input('Hi'), { streamMode: 'messages' }));
    }

    await expect(read()).rejects.toMatchObject({ cause: { code: 'stream_restarted' } })
  })
})
