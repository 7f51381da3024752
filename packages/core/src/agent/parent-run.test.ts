import { scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { callInternally } from '../authoring.ts'
import type { RunContext } from '../index.ts'
import { Agent, chatMiddleware, createSession, withMiddleware } from '../index.ts'

/** A client whose middleware writes down the runs that it sees, and whose answers cost one token each. */
function watchedClient() {
  const seen: RunContext[] = []
  const usage = { inputTokens: 1, outputTokens: 0, totalTokens: 1 }
  const client = withMiddleware(
    scriptedClient(() => ({ messages: 'Hi.', usage }), { provider: 'watched' }),
    chatMiddleware('watch', async ({ run }, callNext) => {
      seen.push(run)
      await callNext()
    }),
  )
  return { client, seen }
}

describe.each([false, true])(
  'the middlewares of a client that serves a run, stream: %s',
  (stream) => {
    const session = createSession({ id: 's' })
    const run = (agent: Agent) => {
      const options = { tenant: 'acme', data: { plan: 'pro' }, session }
      return stream
        ? agent.run('Hi', { ...options, stream: true }).finalResponse()
        : agent.run('Hi', options)
    }

    it('know the run, when another middleware has put the client in place', async () => {
      const { client, seen } = watchedClient()
      const swap = chatMiddleware('swap', async (context, callNext) => {
        context.client = client
        await callNext()
      })

      const { usage, runId } = await run(
        new Agent({ client: scriptedClient([]), middleware: swap, name: 'a' }),
      )

      expect(seen).toHaveLength(1)
      expect(seen[0]).toMatchObject({ tenant: 'acme', data: { plan: 'pro' }, agentName: 'a' })
      expect(seen[0]?.session).toBe(session)
      expect(seen[0]?.parent?.id).toBe(runId)
      expect(usage.totalTokens).toBe(1)
    })

    it('know the run, when a middleware makes a call of its own', async () => {
      const { client, seen } = watchedClient()
      const judge = chatMiddleware('judge', async (context, callNext) => {
        await callNext()
        await callInternally(context.run, { middleware: 'judge', client, input: 'Is it fine?' })
      })

      const own = scriptedClient(['Yes.'], { usage: { totalTokens: 10 } })

      const { usage } = await run(new Agent({ client: own, middleware: judge }))

      expect(seen.map(({ tenant, parent }) => [tenant, parent?.tenant])).toEqual([['acme', 'acme']])
      expect(usage.totalTokens).toBe(11)
    })
  },
)
