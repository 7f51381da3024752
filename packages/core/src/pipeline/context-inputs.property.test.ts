import { scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { AgentContext, ChatContext, Middleware } from '../index.ts'
import { Agent, agentMiddleware, chatMiddleware, messageText, text } from '../index.ts'
import { runs } from '../../../../tests/support/runs.ts'

interface Entry {
  readonly level: 'agent' | 'chat'
  /** Calls `callNext()` again so often after a failure. */
  readonly retries: number
  readonly edits: boolean
}

const entries = fc.array(
  fc.record<Entry>({
    level: fc.constantFrom('agent', 'chat'),
    retries: fc.nat({ max: 2 }),
    edits: fc.boolean(),
  }),
  { maxLength: 5 },
)

function inputsOf({ messages, instructions, options }: AgentContext | ChatContext) {
  return { texts: messages.map(messageText), instructions, temperature: options.temperature }
}

function make({ level, retries, edits }: Entry, name: string, faults: string[]): Middleware {
  const process = async (
    context: AgentContext | ChatContext,
    callNext: () => Promise<unknown>,
  ): Promise<void> => {
    if (edits) {
      context.messages = [...context.messages, { id: name, role: 'user', contents: [text(name)] }]
      context.instructions = `${context.instructions ?? ''}${name}`
      context.options = { ...context.options, temperature: (context.options.temperature ?? 0) + 1 }
    }
    const set = JSON.stringify(inputsOf(context))
    const check = (): void => {
      if (JSON.stringify(inputsOf(context)) !== set) faults.push(name)
    }
    for (let attempt = 0; ; attempt++) {
      try {
        await callNext()
        check()
        return
      } catch (error) {
        check()
        if (attempt === retries) throw error
      }
    }
  }
  return level === 'agent' ? agentMiddleware(name, process) : chatMiddleware(name, process)
}

it('what middlewares assign reaches the model once and is undone, however often they call again', async () => {
  await fc.assert(
    fc.asyncProperty(
      entries,
      fc.nat({ max: 12 }),
      fc.boolean(),
      async (given, failures, stream) => {
        const client = scriptedClient(({ index }) =>
          index < failures ? { updates: ['some '], error: new Error('cut') } : 'Done.',
        )
        const faults: string[] = []
        const named = given.map((entry, at) => ({ ...entry, name: `<${at}>` }))
        const agent = new Agent({
          client,
          middleware: named.map((entry) => make(entry, entry.name, faults)),
        })

        const running = stream ? agent.run('Hello', { stream }).finalResponse() : agent.run('Hello')
        await running.catch(() => {})

        const inOrder = [
          ...named.filter(({ level }) => level === 'agent'),
          ...named.filter(({ level }) => level === 'chat'),
        ]
        const edits = inOrder.filter((entry) => entry.edits).map(({ name }) => name)
        expect(faults).toEqual([])
        for (const { messages, instructions, options } of client.requests) {
          expect(messages.map(messageText)).toEqual(['Hello', ...edits])
          expect(instructions ?? '').toBe(edits.join(''))
          expect(options.temperature ?? 0).toBe(edits.length)
        }
      },
    ),
    { numRuns: runs(200) },
  )
})
