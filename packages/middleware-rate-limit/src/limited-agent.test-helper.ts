import type { MiddlewareInput, Usage } from '@lamella/core'
import { Agent, chatMiddleware } from '@lamella/core'
import { scriptedClient, testClock } from '@lamella/testing'

/** An agent whose model answers when the test says so. */
export function limitedAgent(middleware: MiddlewareInput, usage?: Usage) {
  const started: string[] = []
  const open: (() => void)[] = []
  let isHeld = false
  let atOnce = 0
  let mostAtOnce = 0
  const watch = chatMiddleware('watch', async (context, callNext) => {
    const content = context.messages.at(-1)?.contents[0]
    started.push(content?.type === 'text' ? content.text : '')
    mostAtOnce = Math.max(mostAtOnce, ++atOnce)
    try {
      if (isHeld) {
        await new Promise<void>((resolve, reject) => {
          open.push(resolve)
          context.signal.addEventListener('abort', () => {
            open.splice(open.indexOf(resolve), 1)
            reject(context.signal.reason as Error)
          })
        })
      }
      await callNext()
    } finally {
      atOnce--
    }
  })
  const client = scriptedClient(() => 'Hello!', { model: 'small', usage })
  return {
    agent: new Agent({ client, middleware: [middleware, watch] }),
    /** The inputs that got through, in order. */
    started,
    client,
    get mostAtOnce() {
      return mostAtOnce
    },
    /** From now on, calls stay open until `finish` is called for each. */
    hold() {
      isHeld = true
    },
    async finish() {
      open.shift()?.()
      await settled()
    },
  }
}

/** Resolves when all started work waits. */
export async function settled(): Promise<void> {
  await testClock().advance(0)
}

/** Resolves to the error of a promise. */
export async function failure(of: Promise<unknown>): Promise<unknown> {
  try {
    await of
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}
