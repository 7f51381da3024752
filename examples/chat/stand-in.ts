import type { ChatClient, ChatRequest, Message } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { callFunction, scriptedClient } from '@lamella/testing'
import type { ScriptedReply } from '@lamella/testing'

/** Replaces a model: it knows a refund, an order, and an answer that restarts. */
export function standIn(delayMs = 60, clock?: Clock): ChatClient {
  let cut = 0
  const words = (text: string) => text.split(/(?<= )/)
  const say = (text: string): ScriptedReply => ({
    updates: [...words(text), { finishReason: 'stop' }],
    delayMs,
  })
  const reply = ({ messages }: Pick<ChatRequest, 'messages'>): ScriptedReply => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return say(`Done: ${resultOf(last)}.`)
    const asked = (last?.contents ?? [])
      .map((part) => (part.type === 'text' ? part.text : ''))
      .join('')
      .toLowerCase()
    if (asked.includes('refund')) {
      const what = asked.includes('teapot')
        ? { order: 'B-2', euros: 80 }
        : { order: 'A-7', euros: 500 }
      return [
        'I can refund your order. ',
        callFunction('refund', what, `refund_${messages.length}`),
      ]
    }
    if (asked.includes('ordered'))
      return say('A tea set, A-7, for 500 euros, and a teapot, B-2, for 80 euros.')
    if (asked.includes('restart') && cut++ % 2 === 0) {
      return {
        updates: words('This answer goes wrong after a few '),
        error: new Error('cut'),
        delayMs,
      }
    }
    if (asked.includes('restart')) return say('This is the answer after a restart.')
    if (asked.includes('long'))
      return say('A long answer takes its time, word by word. '.repeat(20))
    return say(
      'Try “refund my order”, “restart”, “a long answer”, or a word that is blocked: “password”.',
    )
  }
  return scriptedClient(reply, { clock })
}

function resultOf({ contents }: Message): string {
  const [result] = contents
  if (result?.type !== 'function-result') return 'nothing'
  const [part] = result.contents
  return part?.type === 'text' ? part.text : 'a file'
}
