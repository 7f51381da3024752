import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import type { AgentResponse, Checkpoint, RunOptions } from '../index.ts'
import { Agent, agentMiddleware, createSession, memoryStore, messageText, tool } from '../index.ts'

const pay = tool({ name: 'pay', description: 'Pays.', approval: 'always', execute: () => 'paid' })

describe.each(runModes)('an agent that resumes a run, %s', (mode) => {
  const resume = (
    agent: Agent,
    checkpoint: Checkpoint | undefined,
    answers: Readonly<Record<string, unknown>> = {},
    options: RunOptions = {},
  ): Promise<AgentResponse> =>
    mode === 'plain'
      ? agent.resume(checkpoint!, answers, options)
      : agent.resume(checkpoint!, answers, { ...options, stream: true }).finalResponse()

  test('keeps what waits for an answer pending while a middleware asks first', async () => {
    let asks = false
    const ask = agentMiddleware('ask', async ({ run }, callNext) => {
      if (asks) await run.interrupt('Who are you?')
      await callNext()
    })
    const client = scriptedClient([callFunction('pay', {}, 'c1')])
    const agent = new Agent({ client, tools: [pay], middleware: ask })
    const paused = await agent.run('Pay.')
    asks = true

    const { pending } = await resume(agent, paused.checkpoint)

    expect(pending.map(({ kind }) => kind)).toEqual(['approval', 'interrupt'])
    expect(pending[0]).toEqual(paused.pending[0])
  })

  test('keeps what waits for an answer when a middleware removes its call', async () => {
    let removes = false
    const remove = agentMiddleware('remove', async ({ run }, callNext) => {
      if (removes) run.messages.rewrite((messages) => messages.slice(0, 1))
      await callNext()
    })
    const client = scriptedClient([callFunction('pay', {}, 'c1')])
    const agent = new Agent({ client, tools: [pay], middleware: remove })
    const paused = await agent.run('Pay.')
    removes = true

    const { pending } = await resume(agent, paused.checkpoint)

    expect(pending).toEqual(paused.pending)
  })

  test('asks its session once for what stays open', async () => {
    const client = scriptedClient([callFunction('pay', {}, 'c1')])
    const agent = new Agent({ client, tools: [pay] })
    const session = createSession()
    const { checkpoint, pending } = await agent.run('Pay.', { session })

    await resume(agent, checkpoint, {}, { session })

    expect(session.pending.map(({ id }) => id)).toEqual(pending.map(({ id }) => id))
  })

  test('tells nobody while a middleware asks what another one has replaced', async () => {
    const ask = agentMiddleware('ask', async ({ run }, callNext) => {
      await callNext()
      await run.interrupt('Sure?')
    })
    const redact = agentMiddleware('redact', async (context, callNext) => {
      await callNext()
      context.result = 'Redacted.'
    })
    const agent = new Agent({ client: scriptedClient(['Secret.']), middleware: [ask, redact] })
    const session = createSession()
    const paused = await runIn(mode, agent, { session })
    const before = [...session.messages]
    const answers = { [paused.pending[0]!.id]: true }

    await resume(agent, paused.checkpoint, answers, { session })

    expect([...paused.messages, ...before].map(messageText)).toEqual(['Redacted.', 'Hello'])
    expect(session.messages.map(messageText)).toEqual(['Hello', 'Redacted.'])
  })

  test('sends everything to a provider that keeps nothing, whatever a checkpoint counts', async () => {
    const client = scriptedClient([callFunction('pay', {}, 'c1'), 'Done.'])
    const agent = new Agent({ client, tools: [pay] })
    const { checkpoint, pending } = await agent.run('Pay.')
    const { signature: _, journal, ...rest } = checkpoint!
    const counting = journal.map((step) => (step.kind === 'state' ? { ...step, sent: 2 } : step))
    const earlier = await agent.sign.sign({ ...rest, journal: counting })

    await resume(agent, earlier, { [pending[0]!.id]: true })

    expect(client.requests[1]!.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
    ])
  })

  test('refuses an edit after its loop, also where that had ended before the pause', async () => {
    const ask = agentMiddleware('ask', async ({ run }, callNext) => {
      await callNext()
      await run.interrupt('Sure?')
      run.tools.hide('pay')
    })
    const agent = new Agent({ client: scriptedClient(['Done.']), tools: [pay], middleware: ask })
    const { checkpoint, pending } = await agent.run('Pay.')

    const running = resume(agent, checkpoint, { [pending[0]!.id]: true })

    await expect(running).rejects.toMatchObject({ code: 'middleware_contract', middleware: 'ask' })
  })

  test.each([
    ['a saved step that another process may have died of can be resumed after ten minutes', false],
    ['a pause can be resumed once, whatever becomes of that', true],
  ])('%s', async (_, paused) => {
    let now = 0
    const store = memoryStore({ clock: { now: () => now } })
    let kept: Checkpoint | undefined
    const onCheckpoint = (checkpoint: Checkpoint): void => void (kept ??= checkpoint)
    const work = tool({ name: 'work', description: 'Works.', execute: () => 'done' })
    const down = new TypeError('down')
    const first = scriptedClient([callFunction(paused ? 'pay' : 'work', {}, 'c1'), down])
    const options = { tools: [pay, work], store }
    const running = new Agent({ client: first, ...options }).run('Go', { onCheckpoint })
    const response = await running.catch(() => undefined)
    const checkpoint = response?.checkpoint ?? kept
    const textOf = (wait: () => Promise<void>): Promise<string> => {
      const middleware = agentMiddleware('wait', async (_context, callNext) => {
        await wait()
        await callNext()
      })
      const agent = new Agent({ client: scriptedClient(['Done.']), middleware, ...options })
      return resume(agent, checkpoint).then(
        ({ text }) => text,
        ({ code }: { code: string }) => code,
      )
    }
    const atOnce = (): Promise<void> => Promise.resolve()

    await new Promise<void>((begun) => {
      void textOf(() => {
        begun()
        return new Promise(() => {})
      })
    })
    const texts = [await textOf(atOnce)]
    now = 600_000
    texts.push(await textOf(atOnce))

    expect(texts).toEqual(['approval_used', paused ? 'approval_used' : 'Done.'])
  })
})
