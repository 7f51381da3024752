import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it, test } from 'vitest'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  chatResponse,
  createSession,
  functionMiddleware,
  memoryStore,
  tool,
  BaseChatClient,
} from '../index.ts'
import { sessions } from '@lamella/store'
import type {
  AgentContext,
  AgentResponse,
  ChatContext,
  ChatRequest,
  ChatResponse,
  ChatResponseUpdate,
  UpdateTransformer,
} from '../index.ts'

class StalledClient extends BaseChatClient {
  readonly provider = 'stalled'
  aborted: unknown

  async respond({ signal }: ChatRequest): Promise<never> {
    return this.#stall(signal)
  }

  async *stream({ signal }: ChatRequest): AsyncGenerator<ChatResponseUpdate> {
    await this.#stall(signal)
    yield { contents: [] }
  }

  #stall(signal: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        this.aborted = signal.reason
        reject(signal.reason as Error)
      })
    })
  }
}

/** Gives its first answer when it is told to, and the second one at once. */
class LateClient extends BaseChatClient {
  readonly provider = 'late'
  answer!: () => void
  #calls = 0

  async respond(): Promise<ChatResponse> {
    if (this.#calls++ > 0) return chatResponse('Second.')
    await new Promise<void>((resolve) => (this.answer = resolve))
    return chatResponse('First.')
  }

  async *stream(): AsyncGenerator<ChatResponseUpdate> {
    const { text } = await this.respond()
    yield { contents: [{ type: 'text', text }] }
  }
}

async function runAgent(agent: Agent, stream: boolean): Promise<AgentResponse> {
  return stream ? agent.run('x', { stream }).finalResponse() : agent.run('x')
}

test('what a transform of the run still holds of a call that was given up never shows', async () => {
  let calls = 0
  let letGo!: () => void
  const client = scriptedClient(['wrong', 'right'])
  const slow = agentMiddleware('slow', async (context, callNext) => {
    context.transformUpdates({
      async transform(update, controller) {
        const [content] = update.contents
        if (content?.type === 'text' && content.text === 'wrong') {
          giveUp(new Error('late'))
          await new Promise<void>((resolve) => (letGo = resolve))
        }
        controller.enqueue(update)
      },
    })
    await callNext()
  })
  let giveUp!: (error: Error) => void
  const again = chatMiddleware('again', async (_, callNext) => {
    await callNext().catch(() => {
      setTimeout(letGo)
      return callNext()
    })
  })
  const impatient = chatMiddleware('impatient', async (_, callNext) => {
    const next = callNext()
    const late = new Promise((_resolve, reject) => (giveUp = reject))
    await (calls++ === 0 ? Promise.race([next, late]) : next)
  })
  const stream = new Agent({ client, middleware: [slow, again, impatient] }).run('x', {
    stream: true,
  })

  let shown = ''
  for await (const { contents } of stream) {
    for (const content of contents) if (content.type === 'text') shown += content.text
    await new Promise((resolve) => setTimeout(resolve))
  }

  expect([shown, (await stream.finalResponse()).text]).toEqual(['right', 'right'])
})

describe.each([false, true])('with stream: %s', (stream) => {
  it('a middleware that cancels a stalled call ends the run and aborts the request', async () => {
    const client = new StalledClient()
    const late = new Error('late')
    const impatient = chatMiddleware('impatient', async (_context, callNext) => {
      await Promise.race([callNext(), Promise.reject(late)])
    })

    const running = runAgent(new Agent({ client, middleware: impatient }), stream)

    await expect(running).rejects.toBe(late)
    expect(client.aborted).toBe(late)
  })

  it('an answer that comes after its call was given up changes nothing', async () => {
    const client = new LateClient()
    const seen: unknown[] = []
    let calls = 0
    const watch = chatMiddleware('watch', async (context, callNext) => {
      await callNext()
      client.answer()
      await new Promise((resolve) => setTimeout(resolve))
      seen.push(context.result?.text)
    })
    const again = chatMiddleware('again', async (_, callNext) => {
      await callNext().catch(() => callNext())
    })
    const impatient = chatMiddleware('impatient', async (_, callNext) => {
      const next = callNext()
      await (calls++ === 0 ? Promise.race([next, Promise.reject(new Error('late'))]) : next)
    })
    const agent = new Agent({ client, middleware: [watch, again, impatient] })

    const { text } = await runAgent(agent, stream)

    expect([text, seen]).toEqual(['Second.', ['Second.']])
  })

  it.each([
    ['the model', []],
    ['a middleware', [chatMiddleware('own', (context) => void (context.result = 'Late.'))]],
  ])(
    'an answer of %s that is still transformed does not replace what is given in its place',
    async (_, inside) => {
      let giveUp!: (error: Error) => void
      let letGo!: () => void
      const held = new Promise<void>((resolve) => (letGo = resolve))
      const relief = chatMiddleware('relief', async (context, callNext) => {
        context.transformUpdates({
          async transform(update, controller) {
            giveUp(new Error('late'))
            await held
            controller.enqueue(update)
          },
        })
        await callNext().catch(() => {
          context.result = 'In time.'
        })
        letGo()
        await new Promise((resolve) => setTimeout(resolve))
      })
      const impatient = chatMiddleware('impatient', async (_context, callNext) => {
        await Promise.race([callNext(), new Promise((_resolve, reject) => (giveUp = reject))])
      })
      const middleware = [relief, impatient, ...inside]
      const agent = new Agent({ client: scriptedClient(['Late.']), middleware })

      expect((await runAgent(agent, stream)).text).toBe('In time.')
    },
  )

  it('a call that fails while nobody waits for it leaves the answer of its middleware alone', async () => {
    const hasty = chatMiddleware('hasty', async (context, callNext) => {
      void callNext()
      await new Promise((resolve) => setTimeout(resolve))
      context.result = 'Mine.'
    })
    const client = scriptedClient([new Error('down')])

    const { text } = await runAgent(new Agent({ client, middleware: hasty }), stream)

    expect(text).toBe('Mine.')
  })

  it('a middleware inside one that has given up learns of it when the tool is done', async () => {
    const seen: unknown[] = []
    let end!: (result: string) => void
    const worked = new Promise<string>((resolve) => (end = resolve))
    const work = tool({ name: 'work', description: 'Works.', execute: () => worked })
    const impatient = functionMiddleware('impatient', async (_, callNext) => {
      await Promise.race([callNext(), Promise.reject(new Error('late'))])
    })
    const inside = functionMiddleware('inside', async (_, callNext) => {
      await callNext().catch((error: unknown) => seen.push(error))
    })
    const client = scriptedClient([callFunction('work')])
    const agent = new Agent({ client, tools: [work], middleware: [impatient, inside] })
    await expect(runAgent(agent, stream)).rejects.toThrow('late')

    end('worked')
    await new Promise((resolve) => setTimeout(resolve))

    expect(seen).toMatchObject([{ code: 'aborted' }])
  })

  it('a middleware of the agent that gives up ends the model call inside', async () => {
    const client = new StalledClient()
    const late = new Error('late')
    const impatient = agentMiddleware('impatient', async (_context, callNext) => {
      await Promise.race([callNext(), Promise.reject(late)])
    })

    const running = runAgent(new Agent({ client, middleware: impatient }), stream)

    await expect(running).rejects.toBe(late)
    expect(client.aborted).toBe(late)
  })

  it('the tools of a loop that was given up are the last ones, and its model is not called again', async () => {
    const client = scriptedClient([callFunction('work'), callFunction('work'), 'Done.'])
    let giveUp!: (error: Error) => void
    let end!: (result: string) => void
    const worked = new Promise<string>((resolve) => (end = resolve))
    let runs = 0
    const work = tool({
      name: 'work',
      description: 'Works.',
      execute: () => {
        runs++
        giveUp(new Error('late'))
        return worked
      },
    })
    const impatient = agentMiddleware('impatient', async (_context, callNext) => {
      await Promise.race([callNext(), new Promise((_, reject) => (giveUp = reject))])
    })
    const running = runAgent(new Agent({ client, tools: [work], middleware: impatient }), stream)
    await expect(running).rejects.toThrow('late')

    end('worked')
    await new Promise((resolve) => setTimeout(resolve, 5))

    expect([runs, client.requests.length]).toEqual([1, 1])
  })

  it('a request that is done is not aborted when a middleware fails later', async () => {
    const client = scriptedClient(['Done.'])
    let fail!: (error: Error) => void
    const failing = chatMiddleware('failing', async (_, callNext) => {
      await Promise.race([callNext(), new Promise((_resolve, reject) => (fail = reject))])
    })
    const slow = chatMiddleware('slow', async (_, callNext) => {
      await callNext()
      fail(new Error('broken'))
      await new Promise(() => {})
    })
    const agent = new Agent({ client, middleware: [failing, slow] })

    await expect(runAgent(agent, stream)).rejects.toThrow('broken')

    expect(client.requests.map(({ signal }) => signal.aborted)).toEqual([false])
  })
})

function cutAfterFirst(): UpdateTransformer<ChatResponseUpdate> {
  return {
    transform(update, controller) {
      controller.enqueue(update)
      if (update.contents.length > 0) controller.terminate()
    },
  }
}

async function bothModes(make: () => Agent): Promise<readonly [AgentResponse, AgentResponse]> {
  return [await runAgent(make(), false), await runAgent(make(), true)]
}

describe('an end that a transform puts to the updates', () => {
  it('cuts a model call alike in both modes', async () => {
    const contents = (text: string) => ({ role: 'assistant' as const, contents: text })

    const [plain, streamed] = await bothModes(
      () =>
        new Agent({
          client: scriptedClient([{ messages: [contents('one'), contents('two')] }]),
          middleware: chatMiddleware('cut', async (context, callNext) => {
            context.transformUpdates(cutAfterFirst())
            await callNext()
          }),
        }),
    )

    expect(plain.text).toBe('one')
    expect(streamed.text).toBe('one')
  })

  it('cuts a run alike in both modes', async () => {
    const [plain, streamed] = await bothModes(
      () =>
        new Agent({
          client: scriptedClient([callFunction('look', {}), 'done']),
          tools: [tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })],
          middleware: agentMiddleware('cut', async (context, callNext) => {
            context.transformUpdates(cutAfterFirst())
            await callNext()
          }),
        }),
    )

    for (const response of [plain, streamed]) {
      expect(response.status).toBe('completed')
      expect(response.messages).toHaveLength(1)
      expect(response.text).toBe('')
    }
  })
})

describe.each(runModes)('updates that a transform ends before the first one, %s', (mode) => {
  it.each(['chat', 'agent'] as const)(
    'are none, and none passes it: at level %s',
    async (level) => {
      const passed: unknown[] = []
      const process = <Result>(
        context: ChatContext | AgentContext,
        callNext: () => Promise<Result>,
      ) => {
        context.transformUpdates({
          start: (controller) => controller.terminate(),
          transform: (update) => void passed.push(update),
        })
        return callNext()
      }
      const middleware =
        level === 'chat' ? chatMiddleware('cut', process) : agentMiddleware('cut', process)

      const { status, text } = await runIn(
        mode,
        new Agent({ client: scriptedClient(['one']), middleware }),
      )

      expect([status, text, passed]).toEqual(['completed', '', []])
    },
  )
})

it('a stream whose updates an agent middleware has ended executes no tools', async () => {
  let calls = 0
  const look = tool({ name: 'look', description: 'Looks.', execute: () => ++calls })
  const cut = agentMiddleware('cut', async (context, callNext) => {
    context.transformUpdates(cutAfterFirst())
    await callNext()
  })
  const client = scriptedClient([callFunction('look', {})])

  const { status } = await runAgent(new Agent({ client, tools: [look], middleware: cut }), true)

  expect([status, calls]).toEqual(['completed', 0])
})

it('bytes in a session come back from a store', async () => {
  const chats = sessions(memoryStore())
  const session = createSession({
    messages: [
      {
        id: 'm',
        role: 'user',
        contents: [{ type: 'data', mediaType: 'image/png', data: new Uint8Array([1, 2]) }],
      },
    ],
  })

  await chats.save(session)

  const loaded = await chats.load(session.id)
  expect(loaded?.messages[0]?.contents[0]).toMatchObject({ mediaType: 'image/png', data: 'AQI=' })
})
