import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentResponse, ChatResponse, MessageInput } from '../index.ts'
import type { ChatResponseInit } from '../authoring.ts'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  chatResponse,
  createSession,
  foldUpdates,
  functionMiddleware,
  jsonSchema,
  messageText,
  text,
  tool,
} from '../index.ts'
import { readUpdates, respondIn } from '../run/run.test-helper.ts'

function deepFrozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFrozen)
  return Object.freeze(value)
}

const look = tool({
  name: 'look',
  description: 'Looks.',
  parameters: jsonSchema({ type: 'object' }),
  execute: () => 'found',
})

describe.each(runModes)('results of middlewares, %s', (mode) => {
  it('a run is terminated by a stop, whatever its reason says', async () => {
    const reason = 'a transform ended the updates of the run'
    const stop = chatMiddleware('stop', async ({ run }, callNext) => {
      await callNext()
      run.stop(reason)
    })
    const pass = agentMiddleware('pass', async (context, callNext) => {
      context.transformUpdates({ transform: (update, out) => out.enqueue(update) })
      await callNext()
    })
    const agent = new Agent({ client: scriptedClient(['Hi.']), middleware: [pass, stop] })

    expect(await runIn(mode, agent)).toMatchObject({ status: 'terminated', reason })
  })

  it('an agent middleware’s result after callNext() is what the caller gets', async () => {
    const replacing = agentMiddleware('replacing', async (context, callNext) => {
      const { text: had } = await callNext()
      context.result = `Not ${had}`
    })
    const client = scriptedClient(['Done.'])

    const { text: got, status } = await runIn(mode, new Agent({ client, middleware: replacing }))

    expect([got, status]).toEqual(['Not Done.', 'completed'])
    expect(client.requests).toHaveLength(1)
  })

  it('an agent middleware’s result in place of callNext() calls no model', async () => {
    const log: string[] = []
    const outer = agentMiddleware('outer', async (_, callNext) => {
      log.push((await callNext()).text)
    })
    const short = agentMiddleware('short', (context) => {
      context.result = 'Short.'
    })
    const client = scriptedClient([])

    const response = await runIn(mode, new Agent({ client, middleware: [outer, short] }))

    expect(response).toMatchObject({ text: 'Short.', status: 'completed', pending: [], usage: {} })
    expect(log).toEqual(['Short.'])
    expect(client.requests).toEqual([])
  })

  it('what a middleware keeps of a run is left as it is by that run and by later ones', async () => {
    const kept: AgentResponse[] = []
    const cached = agentMiddleware('cache', async (context, callNext) => {
      if (kept[0] === undefined) kept.push(deepFrozen(await callNext()))
      else context.result = kept[0]
    })
    const agent = new Agent({ client: scriptedClient(['Once.']), middleware: cached })
    const session = createSession()

    const first = await runIn(mode, agent, { session })
    const second = await runIn(mode, agent, { session, onCheckpoint: () => {} })

    const [said] = second.messages
    expect(said?.id).not.toBe(first.messages[0]?.id)
    const messages = [{ ...first.messages[0], id: said?.id }]
    expect(second).toEqual({ ...first, messages, usage: {} })
    expect(kept).toEqual([first])
    expect(session.messages.map(messageText)).toEqual(['Hello', 'Once.', 'Hello', 'Once.'])
  })

  it('a middleware may decide for each run anew', async () => {
    const conditional = agentMiddleware('conditional', async (context, callNext) => {
      await callNext()
      if (context.metadata['never'] !== true && context.messages.length > 1) {
        context.result = 'Replaced.'
      }
    })
    const client = scriptedClient(() => 'Done.')
    const agent = new Agent({ client, middleware: conditional })
    const two = [
      { role: 'user', contents: 'a' },
      { role: 'user', contents: 'b' },
    ] as const

    const texts = [(await runIn(mode, agent)).text, (await runIn(mode, agent, { input: two })).text]

    expect(texts).toEqual(['Done.', 'Replaced.'])
    expect(client.requests).toHaveLength(2)
  })

  it('a chat middleware’s result is the model’s answer: its tool calls run, its id is kept', async () => {
    const answering = chatMiddleware('answering', async (context, callNext) => {
      if (context.iteration > 0) {
        await callNext()
        return
      }
      context.result = {
        id: 'made-up',
        messages: [callFunction('look', {}, 'c1')],
        finishReason: 'tool-calls',
      }
    })
    const client = scriptedClient(['Done.'])

    const { messages, text: got } = await runIn(
      mode,
      new Agent({ client, tools: [look], middleware: answering }),
    )

    expect(got).toBe('Done.')
    expect(messages[1]!.contents).toMatchObject([{ type: 'function-result', callId: 'c1' }])
    expect(client.requests[0]!.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
    ])
  })

  it('a chat middleware’s result keeps what it says of itself', async () => {
    const init: ChatResponseInit = {
      id: 'r1',
      messages: [{ id: 'm1', role: 'assistant', contents: 'From the cache.' }],
      usage: { totalTokens: 3 },
      finishReason: 'stop',
      model: 'small',
      metadata: { cached: true },
    }
    const answering = chatMiddleware('answering', (context) => {
      context.result = init
    })
    const client = scriptedClient([], { middleware: answering })

    const response = await respondIn(mode, client)

    expect(response).toMatchObject({
      ...init,
      messages: [{ id: 'm1', contents: [text('From the cache.')] }],
      text: 'From the cache.',
    })
  })

  it('a function middleware’s result is what the model reads, whether the tool ran or not', async () => {
    const after = functionMiddleware('after', async (context, callNext) => {
      await callNext()
      context.result = { replaced: true }
    })
    const instead = functionMiddleware('instead', (context) => {
      context.result = 'instead'
    })
    const read = async (middleware: typeof after): Promise<unknown> => {
      const client = scriptedClient([callFunction('look'), 'Done.'])
      await runIn(mode, new Agent({ client, tools: [look], middleware }))
      return client.requests[1]!.messages.at(-1)!.contents
    }

    expect(await read(after)).toMatchObject([{ contents: [text('{"replaced":true}')] }])
    expect(await read(instead)).toMatchObject([{ contents: [text('instead')] }])
  })

  it('a function middleware may answer for a tool that fails', async () => {
    const failing = tool({
      name: 'look',
      description: 'Looks.',
      parameters: jsonSchema({ type: 'object' }),
      execute() {
        throw new Error('no luck')
      },
    })
    const recovering = functionMiddleware('recovering', async (context, callNext) => {
      await callNext().catch((error: Error) => {
        context.result = `recovered from ${error.message}`
      })
    })
    const client = scriptedClient([callFunction('look'), 'Done.'])

    await runIn(mode, new Agent({ client, tools: [failing], middleware: recovering }))

    expect(client.requests[1]!.messages.at(-1)!.contents).toMatchObject([
      { contents: [text('recovered from no luck')] },
    ])
  })

  it('a middleware may look at the result first and then replace it', async () => {
    const seen: (string | undefined)[] = []
    const observe = chatMiddleware('observe', async (context, callNext) => {
      seen.push(context.result?.text)
      await callNext()
      seen.push(context.result?.text)
      context.result = 'Replaced.'
      seen.push(context.result?.text)
    })

    await runIn(mode, new Agent({ client: scriptedClient(['Done.']), middleware: observe }))

    expect(seen).toEqual([undefined, 'Done.', 'Replaced.'])
  })

  it('middlewares outside see a replaced result, in context.result and from callNext()', async () => {
    const seen: string[] = []
    const outside = chatMiddleware('outside', async (context, callNext) => {
      const result = await callNext()
      seen.push(result.text, context.result!.text)
    })
    const replacing = chatMiddleware('replacing', async (context, callNext) => {
      await callNext()
      context.result = 'Replaced.'
    })
    const client = scriptedClient(['Done.'])

    await runIn(mode, new Agent({ client, middleware: [outside, replacing] }))

    expect(seen).toEqual(['Replaced.', 'Replaced.'])
  })

  it.each([null, 7, {}, ['text']])('%j is no result and throws where it is set', async (value) => {
    const wrong = chatMiddleware('wrong', (context) => {
      context.result = value as never
    })
    const agent = new Agent({ client: scriptedClient([]), middleware: wrong })

    await expect(runIn(mode, agent)).rejects.toThrow(
      /context\.result: expected a response or a string/,
    )
  })

  it.each([
    ['agent', agentMiddleware],
    ['chat', chatMiddleware],
  ])('of level %s throw where they are set while callNext() runs', async (_, middleware) => {
    const hasty = middleware(
      'hasty',
      async (context: { result?: unknown }, callNext: () => Promise<unknown>) => {
        const next = callNext()
        context.result = 'Mine.'
        await next
      },
    )
    const client = scriptedClient(['Done.'])

    await expect(runIn(mode, new Agent({ client, middleware: hasty }))).rejects.toMatchObject({
      middleware: 'hasty',
      message: expect.stringContaining('context.result while callNext() was running'),
    })
  })

  it('`text` and `functionCalls` of a result are those of its messages, whatever it says', async () => {
    const lying = chatMiddleware('lying', async (context, callNext) => {
      const result = await callNext()
      context.result = { ...result, text: 'Something else.', functionCalls: [] }
    })
    const client = scriptedClient([['Some ', 'words.']], { middleware: lying })

    const response = await respondIn(mode, client)

    expect(response.text).toBe('Some words.')
  })

  it('a result with other facts and the same messages keeps them', async () => {
    const marking = chatMiddleware('marking', async (context, callNext) => {
      const result = await callNext()
      context.result = { ...result, metadata: { checked: true }, finishReason: 'length' }
    })
    const client = scriptedClient(['Done.'], { middleware: marking })

    const response = await respondIn(mode, client)

    expect(response).toMatchObject({
      text: 'Done.',
      metadata: { checked: true },
      finishReason: 'length',
    })
  })

  it.each<[string, MessageInput]>([
    ['a text', 'New.'],
    ['a content', text('New.')],
    ['a list of texts', ['New.']],
    ['a list of contents', [text('New.')]],
    ['a message without an id', { role: 'assistant', contents: 'New.' }],
    ['a list of those', [{ role: 'assistant', contents: [text('New.')] }]],
  ])('a result with other messages takes them as %s, at each level', async (_, messages) => {
    const ofRun = agentMiddleware('ofRun', async (context, callNext) => {
      context.result = { ...(await callNext()), messages }
    })
    const ofCall = chatMiddleware('ofCall', async (context, callNext) => {
      context.result = { ...(await callNext()), messages }
    })

    for (const middleware of [ofRun, ofCall]) {
      const agent = new Agent({ client: scriptedClient(['Old.']), middleware })
      const response = await runIn(mode, agent)

      const contents = [{ type: 'text', text: 'New.' }]
      const id = expect.any(String)
      expect(response).toMatchObject({ status: 'completed', text: 'New.' })
      expect(response.messages).toMatchObject([{ id, role: 'assistant', contents }])
    }
  })

  it('the best of two calls can be given back, though it was not the last', async () => {
    const best = chatMiddleware('best', async (context, callNext) => {
      const first = await callNext()
      await callNext()
      context.result = first
    })
    const marking = chatMiddleware('marking', async (context, callNext) => {
      context.transformUpdates({
        flush: (controller) => controller.enqueue({ contents: [text('!')] }),
      })
      await callNext()
    })
    const client = scriptedClient(['first', 'second'])

    const { text: got } = await runIn(mode, new Agent({ client, middleware: [marking, best] }))

    expect(got).toBe('first!')
  })

  it('history and the next model call read what the middlewares made of an answer', async () => {
    const replacing = chatMiddleware('replacing', async (context, callNext) => {
      const result = await callNext()
      if (result.functionCalls.length === 0) return
      const messages = result.messages.map((entry) => ({
        ...entry,
        contents: entry.contents.map((content) =>
          content.type === 'text' ? text('***') : content,
        ),
      }))
      context.result = { ...result, messages }
    })
    const client = scriptedClient([['secret', callFunction('look')], 'Done.'])

    const response = await runIn(mode, new Agent({ client, tools: [look], middleware: replacing }))

    expect(JSON.stringify(client.requests[1]!.messages)).not.toContain('secret')
    expect(JSON.stringify(response)).not.toContain('secret')
    expect(response.text).toBe('***Done.')
  })
})

describe('`raw` of a response', () => {
  const withRaw = (): ChatResponse =>
    chatResponse({
      messages: [{ id: 'm', role: 'assistant', contents: 'secret' }],
      raw: { secret: 1 },
    })

  it('is kept where no middleware changed the content', async () => {
    const pass = chatMiddleware('pass', async (context, callNext) => {
      context.transformUpdates({
        start() {},
        transform: (update, controller) => controller.enqueue(update),
        flush() {},
      })
      const result = await callNext()
      context.result = { ...result, metadata: { seen: true } }
    })
    const client = scriptedClient([withRaw(), withRaw()], { middleware: pass })

    const response = await client.getResponse('Hello')
    const withoutTools = await client.getResponse('Hello', { toolChoice: 'none' })

    expect([response.raw, withoutTools.raw]).toEqual([{ secret: 1 }, { secret: 1 }])
  })

  it('is gone where a transform changed it', async () => {
    const redact = chatMiddleware('redact', (context, callNext) => {
      context.transformUpdates({
        transform: (update, controller) =>
          controller.enqueue({ ...update, contents: [text('***')] }),
      })
      return callNext()
    })
    const client = scriptedClient([withRaw()], { middleware: redact })

    expect(JSON.stringify(await client.getResponse('Hello'))).not.toContain('secret')
  })

  it('is gone where a middleware put other messages in place', async () => {
    const redact = chatMiddleware('redact', async (context, callNext) => {
      const result = await callNext()
      context.result = { ...result, messages: chatResponse('***').messages }
    })
    const client = scriptedClient([withRaw()], { middleware: redact })

    const response = await client.getResponse('Hello')

    expect(response.text).toBe('***')
    expect(JSON.stringify(response)).not.toContain('secret')
  })

  it('of an update is gone where a transform made another of it', async () => {
    const redact = chatMiddleware('redact', (context, callNext) => {
      context.transformUpdates({
        transform(update, controller) {
          if (update.contents.length === 0) return controller.enqueue(update)
          controller.enqueue({ ...update, contents: [text('*')] })
          controller.enqueue({ ...update, contents: [text('*')] })
        },
      })
      return callNext()
    })
    const update = { contents: [text('secret')], raw: { chunk: 'secret' } }
    const client = scriptedClient([{ updates: [update, { finishReason: 'stop', raw: 'end' }] }])

    const { updates } = await readUpdates(new Agent({ client, middleware: redact }))

    expect(JSON.stringify(updates)).not.toContain('secret')
    expect(updates.at(-1)).toMatchObject({ raw: 'end' })
  })
})

describe('results of middlewares in a stream', () => {
  it('a short circuit is replayed as updates', async () => {
    const short = agentMiddleware('short', (context) => {
      context.result = { messages: ['Short.', text(' Very.')], finishReason: 'stop' }
    })

    const { updates, response } = await readUpdates(
      new Agent({ client: scriptedClient([]), middleware: short }),
    )

    expect(foldUpdates(updates)).toMatchObject({ text: 'Short. Very.', finishReason: 'stop' })
    expect(foldUpdates(updates).messages).toEqual(response.messages)
    expect(updates.some(({ restart }) => restart)).toBe(false)
  })

  it('a replaced result supersedes what was shown', async () => {
    const replacing = chatMiddleware('replacing', async (context, callNext) => {
      await callNext()
      context.result = 'Replaced.'
    })
    const client = scriptedClient(['Some words.'])

    const { updates, response } = await readUpdates(new Agent({ client, middleware: replacing }))

    const kinds = updates.map(({ restart, contents }) => (restart ? 'restart' : contents.length))
    expect(kinds).toEqual([1, 1, 0, 'restart', 1, 0])
    expect(foldUpdates(updates).messages).toEqual(response.messages)
  })

  it('other facts about the same messages supersede nothing', async () => {
    const marking = chatMiddleware('marking', async (context, callNext) => {
      const result = await callNext()
      context.result = { ...result, metadata: { checked: true } }
    })
    const client = scriptedClient(['Some words.'])

    const { updates } = await readUpdates(new Agent({ client, middleware: marking }))

    expect(updates.some(({ restart }) => restart)).toBe(false)
  })
})
