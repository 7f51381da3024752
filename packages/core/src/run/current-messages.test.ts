import { callFunction, runModes, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../tests/support/runs.ts'
import type { Message, RunOptions } from '../index.ts'
import { Agent, agentMiddleware, chatMiddleware, message, messageText, tool } from '../index.ts'

const shape = (messages: readonly Message[]): string =>
  messages
    .map(({ role, contents }) => `${role}:${contents.map(({ type }) => type).join('+')}`)
    .join(' ')

describe.each(runModes)('what the current run has done, %s', (mode) => {
  const run = async (agent: Agent, input: string | [], options: RunOptions) =>
    mode === 'plain'
      ? agent.run(input, options)
      : agent.run(input, { ...options, stream: true }).finalResponse()

  it('is known in every model call, also behind a call from before the run', async () => {
    const seen: string[] = []
    const look = chatMiddleware('look', async ({ run: { messages } }, callNext) => {
      seen.push(`${shape(messages.current)} | ${shape(messages.unread)}`)
      await callNext()
    })
    const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
    const check = tool({ name: 'check', description: '', execute: () => 'ok' })
    const client = scriptedClient([callFunction('pay'), 'Sunny.', callFunction('check'), 'Paid.'])
    const agent = new Agent({ client, tools: [pay, check], middleware: look })
    const session = agent.createSession()
    const { pending } = await run(agent, 'Pay.', { session })
    await run(agent, 'How is the weather?', { session })

    await run(agent, [], { session, answers: { [pending[0]!.id]: true } })

    const paid = 'tool:function-result'
    expect(seen).toEqual([
      'user:text | user:text',
      'user:text | user:text',
      `${paid} | ${paid}`,
      `${paid} assistant:function-call ${paid} | ${paid}`,
    ])
  })

  it('includes a result of an earlier run that no model has read', async () => {
    let seen = ''
    const look = chatMiddleware('look', async ({ run: { messages } }, callNext) => {
      seen = shape(messages.unread)
      await callNext()
    })
    const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
    const both = [callFunction('pay', { to: 'Ada' }), callFunction('pay', { to: 'Bob' })]
    const client = scriptedClient([both, 'Sunny.', 'Waiting.', 'Well.'])
    const agent = new Agent({ client, tools: [pay], middleware: look })
    const session = agent.createSession()
    const { pending } = await run(agent, 'Pay.', { session })
    await run(agent, 'How is the weather?', { session })
    await run(agent, [], { session, answers: { [pending[1]!.id]: true } })

    await run(agent, 'And now?', { session })
    const first = seen
    await run(agent, 'And then?', { session })

    expect([first, seen]).toEqual(['tool:function-result user:text', 'user:text'])
  })

  it('includes what a rewrite adds behind the messages from before the run', async () => {
    let seen: readonly string[] = []
    const redact = chatMiddleware('redact', async ({ run: { messages } }, callNext) => {
      messages.rewrite((all) => [message('user', 'summary'), message('user', all.at(-1)!.contents)])
      seen = messages.unread.map(messageText)
      await callNext()
    })
    const agent = new Agent({ client: scriptedClient(['Hi.']), middleware: redact })
    const session = agent.createSession({
      messages: [message('user', 'a'), message('assistant', 'b')],
    })

    await run(agent, 'Hello', { session })

    expect(seen).toEqual(['summary', 'Hello'])
  })

  it('an answer finds its request, whatever a rewrite removes', async () => {
    const edits = fc.array(fc.constantFrom('keep', 'remove', 'text', 'new'), {
      minLength: 12,
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(edits, fc.boolean(), fc.boolean(), async (fates, early, declared) => {
        const rewriter = (all: readonly Message[]): readonly Message[] =>
          all.flatMap((entry, at): Message | readonly never[] => {
            const fate = at === all.length - 1 ? 'keep' : fates[at % fates.length]
            if (fate === 'remove') return []
            if (fate === 'new') return message('user', `gone: ${messageText(entry)}`)
            const contents = entry.contents.filter(({ type }) => type === 'text')
            return fate === 'text' ? { ...entry, contents } : entry
          })
        const at = early ? agentMiddleware : chatMiddleware
        const compact = at('compact', async (context, callNext) => {
          if (context.run.messages.all.length > 4) context.run.messages.rewrite(rewriter)
          await callNext()
        })
        const paid: string[] = []
        const pay = declared
          ? tool({ name: 'pay', description: '' })
          : tool({
              name: 'pay',
              description: '',
              approval: 'always',
              execute: () => void paid.push('x'),
            })
        const note = tool({ name: 'note', description: '', execute: () => 'noted' })
        let calls = 0
        const client = scriptedClient(() =>
          calls++ === 0
            ? ['I will pay.', callFunction('note', {}, 'n'), callFunction('pay', {}, 'p')]
            : `answer ${calls}`,
        )
        const agent = new Agent({ client, tools: [pay, note], middleware: compact })
        const session = agent.createSession()
        const { pending, checkpoint } = await run(agent, 'Pay.', { session })
        for (const text of ['One.', 'Two.']) await run(agent, text, { session })

        const answers = { [pending[0]!.id]: declared ? 'paid' : true }
        if (declared) await agent.resume(checkpoint!, answers, { session })
        else await run(agent, [], { session, answers })

        expect(declared ? ['x'] : paid).toEqual(['x'])
        const sent = client.requests.at(-1)!.messages.flatMap(({ contents }) => contents)
        const results = sent.filter(
          (part) => part.type === 'function-result' && part.callId === 'p',
        )
        expect(results).toHaveLength(1)
        expect(
          sent.filter((part) => part.type === 'function-call' && part.callId === 'p'),
        ).toHaveLength(1)
        expect(session.pending).toEqual([])
      }),
      { numRuns: runs(60) },
    )
  })
})
