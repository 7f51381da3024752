import type { Message } from '@lamella/core'
import { text } from '@lamella/core'

/** Makes the user message that replaces summarized messages. */
export function summaryMessage(
  middleware: string,
  gone: readonly Message[],
  words: string,
): Message {
  return {
    id: `${gone.at(-1)!.id}-summary`,
    role: 'user',
    contents: [text(words)],
    metadata: { [mark]: { middleware, messages: gone.length } },
  }
}

/** Tells whether a message is a summary of earlier ones. */
export function isSummary({ role, metadata }: Message): boolean {
  return role === 'user' && metadata?.[mark] !== undefined
}

const mark = 'summary'
