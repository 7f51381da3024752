import { describe, expect, it } from 'vitest'
import { Agent, createSession, messageText, tool } from '../../packages/core/src/index.ts'
import { guardrail } from '../../packages/guardrail/src/index.ts'
import { pii } from '../../packages/guardrail-pii/src/index.ts'
import { memorySink } from '../../packages/middleware-audit/src/audit.test-helper.ts'
import { auditLog } from '../../packages/middleware-audit/src/index.ts'
import { pictureOf, recorder } from '../../packages/picture/src/index.ts'
import { createInbox } from '../../packages/steering/src/index.ts'
import { callFunction, runIn, runModes, scriptedClient } from '../../packages/testing/src/index.ts'

// What a user says to a running agent, in the middleware that sees all of it.
describe.each(runModes)('a message to a running agent, %s', (mode) => {
  it('reaches the model as a placeholder, and its values reach the caller', async () => {
    const inbox = createInbox()
    let sent: Promise<unknown> | undefined
    const work = tool({
      name: 'work',
      description: '',
      execute: async () => {
        sent = inbox.steer('Write to ann@example.com instead.', { id: 'm1' })
        while ((await inbox.waiting()).length === 0) await new Promise((done) => setTimeout(done))
      },
    })
    const client = scriptedClient([callFunction('work', {}, 'c1'), 'Wrote to <EMAIL_2>.'])
    const agent = new Agent({ client, tools: [work], middleware: [pii({ vault: true }), inbox] })
    const session = createSession()

    const { text } = await runIn(mode, agent, { input: 'Write to bob@example.com.', session })

    expect(await sent).toMatchObject({ type: 'delivered' })
    expect(client.requests[1]!.messages.map(messageText)).toEqual([
      'Write to <EMAIL_1>.',
      '',
      '',
      'Write to <EMAIL_2> instead.',
    ])
    expect(JSON.stringify(client.requests)).not.toContain('@example.com')
    expect(text).toBe('Wrote to ann@example.com.')
    expect(session.messages.map(messageText)).toContain('Write to ann@example.com instead.')
  })

  it('is in the picture and in the audit log in order, with its edit and without its text', async () => {
    const lines: string[] = []
    const record = recorder({ sink: { write: (line) => void lines.push(line) } })
    const sink = memorySink()
    const log = auditLog({ sinks: sink })
    const inbox = createInbox()
    const judge = guardrail({
      name: 'judge',
      applyTo: ['input'],
      check: ({ text }) => {
        if (text.includes('rude')) return { action: 'block' }
        return text.includes('secret')
          ? { action: 'replace', replacement: 'hidden words' }
          : { action: 'allow' }
      },
    })
    const sent = [
      inbox.queue('Then this.', { id: 'm1' }),
      inbox.steer('A secret word.', { id: 'm2' }),
      inbox.steer('A rude word.', { id: 'm3' }),
    ]
    const agent = new Agent({
      client: scriptedClient(['One.', 'Two.']),
      middleware: record.middleware([log, judge, inbox]),
    })

    await runIn(mode, agent)
    await Promise.all([...sent, record.flush()])

    const fates = [
      { id: 'm2', kind: 'steer', type: 'delivered', edited: true },
      { id: 'm3', kind: 'steer', type: 'not-delivered', reason: 'rejected' },
      { id: 'm1', kind: 'queue', type: 'delivered', edited: false },
    ]
    const text = lines.join('\n')
    const events = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const drawn = events.filter(({ type }) => type === 'steering')
    expect(drawn.map(({ facts }) => facts)).toMatchObject(fates)
    expect(pictureOf(text)).toContain('steering')
    const decisions = sink.records.flatMap((entry) =>
      entry.type === 'decision' ? [entry['decision']] : [],
    )
    const told = decisions.filter((entry) => JSON.stringify(entry).includes('"steering"'))
    expect(told).toMatchObject(fates.map((fate) => ({ ...fate, type: 'steering' })))
    expect(JSON.stringify([lines, sink.records])).not.toMatch(/secret|rude|Then this/)
  })
})
