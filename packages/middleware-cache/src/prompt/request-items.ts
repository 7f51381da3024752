import type { ChatContext, Message, ToolDefinition } from '@lamella/core'
import { canonicalJson } from '@lamella/core/authoring'
import { messageTokens, requestTokens } from '@lamella/text'

/** Part of a request, in the order in which providers cache: tools, instructions, messages. */
export interface RequestItem {
  readonly kind: 'tools' | 'instructions' | 'message'
  /** Its content, as text. */
  readonly content: string
  /** Estimated number of tokens. */
  readonly tokens: number
}

type Request = Pick<ChatContext, 'messages' | 'instructions' | 'options'>

const known = new WeakMap<Message, RequestItem>()

/** Returns the parts of a request that a provider may have cached. */
export function requestItems({ messages, instructions, options }: Request): readonly RequestItem[] {
  const { tools = [] } = options
  const shown = tools.map(toolOf)
  const head: readonly RequestItem[] = [
    {
      kind: 'tools',
      content: canonicalJson(shown),
      tokens: requestTokens({ messages: [], tools }),
    },
    {
      kind: 'instructions',
      content: instructions ?? '',
      tokens: requestTokens({ messages: [], instructions }),
    },
  ]
  return [...head, ...messages.map(messageItem)]
}

/** A message is read once. Its id and metadata reach no provider. */
function messageItem(message: Message): RequestItem {
  let item = known.get(message)
  if (item === undefined) {
    const { role, contents } = message
    item = {
      kind: 'message',
      content: canonicalJson({ role, contents }),
      tokens: messageTokens(message),
    }
    known.set(message, item)
  }
  return item
}

function toolOf(tool: ToolDefinition): unknown {
  if (tool.type === 'hosted') return { definition: tool.definition }
  const { name, description, jsonSchema } = tool
  return { name, description, jsonSchema }
}

/** Returns the first place at which an earlier request is not the beginning of a later one, or -1. */
export function firstChange(
  earlier: readonly RequestItem[],
  later: readonly RequestItem[],
): number {
  return earlier.findIndex(({ content }, at) => later[at]?.content !== content)
}

export function tokensOf(items: readonly RequestItem[]): number {
  return items.reduce((sum, { tokens }) => sum + tokens, 0)
}
