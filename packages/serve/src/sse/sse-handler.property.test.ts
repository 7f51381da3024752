import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { chatService } from '../chats/chat-service.ts'
import { agentOf, endOf, randomRun, secret } from '../chats/random-run.test-helper.ts'
import { chatReader } from '../reader/chat-reader.ts'
import { sseHandler } from './sse-handler.ts'
import { runs } from '../../../../tests/support/runs.ts'

test('a reader shows what finalResponse() has, also when it reads again, and no secret in any byte', async () => {
  await fc.assert(
    fc.asyncProperty(randomRun, fc.boolean(), async (run, continues) => {
      const handler = sseHandler(
        chatService(agentOf(run), {
          principal: () => 'ann',
          onError: () => {},
          onDisconnect: continues ? 'continue' : 'cancel',
        }),
      )
      const url = 'https://shop.example/'
      let bytes = ''
      const chat = chatReader({
        url,
        chat: 'c',
        fetch: async (address, init) => {
          const response = await handler(new Request(address, init))
          bytes += await response.clone().text()
          return response
        },
      })

      const end = await endOf(run)
      await chat.send('Hello')

      const { status, messages } = chat.state
      const shown = (messages.at(-1)?.contents ?? []).map(({ text = '' }) => text).join('')
      expect(status).toBe(end.status)
      expect(status === 'failed' ? '' : shown).toBe(end.text)
      expect(bytes).not.toContain(secret)
      if (!continues || bytes === '' || status === 'failed') return
      const again = await handler(new Request(`${url}?chat=c&stream`))
      expect(await again.text()).toBe(bytes)
    }),
    { numRuns: runs(150) },
  )
})
