/** A part of a message: text, a tool call and so on, as the server sends it. */
export interface ChatPart {
  /** Kind of part, such as `text` or `function-call`. */
  readonly type: string
  /** Text of a text, refusal or reasoning part. */
  text?: string
  /** Id of a tool call, also in its result. */
  callId?: string
  /** Name of a tool. */
  name?: string
  /** Arguments of a tool call, JSON text. */
  arguments?: string
  /** Parts of a tool's result. */
  contents?: readonly ChatPart[]
  /** Error of a tool call. */
  error?: {
    /** Category of the error. */
    readonly code: string
  }
  /** Other fields of the kind of part. */
  [field: string]: unknown
}

/** An update as the server sends it. */
export interface ChatUpdate {
  readonly contents: readonly ChatPart[]
  readonly role?: string
  readonly restart?: true
  readonly scope?: string
  readonly event?: ChatEvent
}

/** A public event of a run, such as progress of a tool. */
export interface ChatEvent {
  /** Kind of event. */
  readonly type: string
  /** Data of the event. */
  readonly data?: unknown
}

/** Adds updates to the parts of an answer. A restart discards the parts that it covers. */
export function answerFold(parts: ChatPart[]): (update: ChatUpdate) => void {
  const start = parts.length
  let mark = start
  return ({ contents, role, restart, scope }) => {
    if (restart) {
      if (scope === 'run') mark = start
      parts.length = mark
      return
    }
    if (role === 'user' || role === 'system') return
    for (const part of contents) {
      const { type, callId, index } = part
      const known =
        type === 'function-call'
          ? parts.find(
              (was, at) =>
                at >= mark &&
                was.type === type &&
                (callId ? was.callId === callId : was['index'] === index),
            )
          : parts.length > mark && part.text !== undefined && parts.at(-1)!.type === type
            ? parts.at(-1)
            : undefined
      if (known === undefined) parts.push({ ...part })
      else if (part.text === undefined) known.arguments = (known.arguments ?? '') + part.arguments
      else known.text += part.text
    }
    if (role === 'tool') mark = parts.length
  }
}
