import { invalidInput } from '../http/read-json.ts'
import type { Answers } from './paused-runs.ts'

/**
 * Request of a client to a chat: new input, answers to open requests, or another answer to a
 * message.
 */
export interface Demand {
  /** Id of the chat. */
  readonly chat: string
  /** New input of the user, as the client sent it. */
  readonly input?: unknown
  /** Id of the input, for a message that is sent again. */
  readonly id?: unknown
  /** Answers to open requests of the chat. */
  readonly answers?: Answers | undefined
  /**
   * Number of the user's message, from 1, to answer again or to replace with `input`. Later
   * messages are dropped.
   */
  readonly again?: number | undefined
}

/** @throws HttpFailure 400 for an invalid chat id */
export function chatId(value: unknown): string {
  return idOf('chat', value)
}

/** @throws HttpFailure 400 for an invalid id of a message */
export function messageId(value: unknown): string {
  return idOf('message', value)
}

function idOf(kind: string, value: unknown): string {
  // oxlint-disable-next-line no-control-regex
  if (typeof value === 'string' && value.length <= 200 && /^[^\u0000-\u001f\u007f]+$/.test(value)) {
    return value
  }
  throw invalidInput(`the id of a ${kind} is a text of 1 to 200 characters`)
}

/** Reads answers by the id of the request. */
export function answersOf(value: unknown): Answers {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidInput('`answers` must be an object: answers by the id of the request')
  }
  const entries = Object.entries(value)
  if (entries.length === 0 || entries.length > 100) {
    throw invalidInput('`answers` must hold 1 to 100 answers')
  }
  return new Map(entries)
}
