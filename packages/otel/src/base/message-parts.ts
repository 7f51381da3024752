import type { Content, Message } from '@lamella/core'

/** Messages in the form of the conventions, every text changed by `clean`. */
export function conventionalMessages(
  messages: readonly Message[],
  clean: (text: string) => string,
  finishReason?: string,
): readonly object[] {
  return messages.map(({ role, contents }) => ({
    role,
    parts: contents.map((content) => partOf(content, clean)),
    ...(finishReason !== undefined && { finish_reason: finishReason }),
  }))
}

/** Parses JSON text; returns the text itself if it is not JSON. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown
  } catch {
    return json
  }
}

function partOf(content: Content, clean: (text: string) => string): object {
  switch (content.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return { type: content.type, content: clean(content.text) }
    case 'function-call': {
      const { callId, name, arguments: args } = content
      return { type: 'tool_call', id: callId, name, arguments: parsed(clean(args)) }
    }
    case 'function-result':
      return {
        type: 'tool_call_response',
        id: content.callId,
        response: content.contents.map((part) => partOf(part, clean)),
      }
    case 'uri':
      return { type: 'uri', mime_type: content.mediaType, uri: clean(content.uri) }
    case 'data':
      return { type: 'blob', mime_type: content.mediaType, size: content.data.length }
    default:
      return { type: content.type }
  }
}
