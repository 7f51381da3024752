import type { Message } from '@lamella/core'
import { text } from '@lamella/core'

/** A summary as a message of the user, in the place of the messages that it stands for. */
export function summaryMessage(layer: string, gone: readonly Message[], words: string): Message {
  return {
    id: `${gone.at(-1)!.id}-summary`,
    role: 'user',
    contents: [text(words)],
    metadata: { [mark]: { layer, messages: gone.length } },
  }
}

/** Whether a message is a summary of what came before. */
export function isSummary({ role, metadata }: Message): boolean {
  return role === 'user' && metadata?.[mark] !== undefined
}

const mark = 'summary'
