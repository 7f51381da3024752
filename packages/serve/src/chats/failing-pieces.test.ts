import { Agent, chatMiddleware, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import { agUiHandler } from '../ag-ui.ts'
import { sseHandler } from '../sse.ts'
import { uiStreamHandler } from '../ui-stream.ts'
import { chatService } from './chat-service.ts'

const handlers = { sse: sseHandler, 'ui-stream': uiStreamHandler, 'ag-ui': agUiHandler } as const
const bodies = {
  sse: { chat: 'c1', input: 'Hi' },
  'ui-stream': {
    id: 'c1',
    messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
  },
  'ag-ui': { threadId: 'c1', runId: 'r', messages: [{ id: 'm', role: 'user', content: 'Hi' }] },
} as const

const cases = (['sse', 'ui-stream', 'ag-ui'] as const).flatMap((protocol) =>
  (['cancel', 'continue'] as const).map((onDisconnect) => [protocol, onDisconnect] as const),
)

test.each(cases)(
  'a piece that cannot be written ends the run and frees the chat: %s, %s',
  async (protocol, onDisconnect) => {
    const errors: unknown[] = []
    const report = tool({
      name: 'report',
      description: '',
      execute(_, { run }) {
        run.emit({ type: 'progress', public: true, data: { rows: 10n as never } })
        return 'ok'
      },
    })
    const client = scriptedClient(({ index }) => (index === 0 ? callFunction('report') : 'Hello.'))
    const agent = new Agent({ client, tools: [report] })
    const chats = chatService(agent, {
      principal: () => 'ann',
      include: ['events'],
      onDisconnect,
      onError: (error) => errors.push(error),
    })
    const handler = handlers[protocol](chats)
    const send = async (): Promise<Response> =>
      handler(
        new Request('http://h/chat', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(bodies[protocol]),
        }),
      )

    const broken = await (await send()).text()
    const next = await send()

    expect(broken).not.toBe('')
    expect(errors).toHaveLength(1)
    expect([next.status, await next.text()]).toEqual([200, expect.stringContaining('Hello.')])
  },
)

test.each(Object.entries(handlers))(
  '%s refuses a body that is nested too deep',
  async (_name, make) => {
    const again = chatMiddleware('again', async (_, callNext) => {
      await callNext()
      await callNext()
    })
    const agent = new Agent({ client: scriptedClient(() => 'Hello.'), middleware: again })
    const handler = make(chatService(agent, { principal: () => 'ann' }))
    const deep = '['.repeat(200_000) + ']'.repeat(200_000)
    const body = `{"threadId":"c1","messages":[{"id":"x","role":"user","content":"[{","more":${deep}}]}`

    const headers = { 'content-type': 'application/json' }
    const response = await handler(new Request('http://h/chat', { method: 'POST', headers, body }))

    expect(response.status).toBe(400)
  },
)
