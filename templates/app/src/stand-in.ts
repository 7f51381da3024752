import type { ChatClient } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'

/** A model without a model, so that the page can be tried before there is a key. It knows a refund. */
export function standIn(delayMs = 40): ChatClient {
  const say = (text: string) => ({
    updates: [...text.split(/(?<= )/), { finishReason: 'stop' } as const],
    delayMs,
  })
  return scriptedClient(({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return say('Done. Is there anything else?')
    const [part] = last?.contents ?? []
    if (part?.type !== 'text' || !/refund/i.test(part.text)) return say('Try “Refund my order”.')
    const id = `refund_${messages.length}`
    return ['I can do that. ', callFunction('refund_order', { order: 'A-7', euros: 500 }, id)]
  })
}
