import type { ChatClient, Content } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'

/** Replaces a model, so that you can try the page without an API key. It knows about orders and refunds. */
export function standIn(delayMs = 40): ChatClient {
  const say = (text: string) => ({
    updates: [...text.split(/(?<= )/), { finishReason: 'stop' } as const],
    delayMs,
  })
  return scriptedClient(({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return say(`${textIn(last.contents)}\nIs there anything else?`)
    const asked = textIn(last?.contents ?? [])
    const id = `call_${messages.length}`
    if (/refund/i.test(asked)) {
      const refund = /tea set/i.test(asked)
        ? { order: 'B-2', euros: 500 }
        : { order: 'A-7', euros: 80 }
      return ['I can do that. ', callFunction('refund_order', refund, id)]
    }
    if (/order|bought/i.test(asked)) return [callFunction('list_orders', {}, id)]
    return say('I know your orders, and I can refund them.')
  })
}

/** Joins the text of a message, including that of tool results. */
function textIn(contents: readonly Content[]): string {
  return contents
    .map((part) => {
      if (part.type === 'function-result') return textIn(part.contents)
      return part.type === 'text' ? part.text : ''
    })
    .join('')
}
