import type { Content } from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import type { WireObject } from '@lamella/transport'
import { defined, stringOf } from '@lamella/transport'

/** Facts of an output item besides its own. */
export interface ItemPlace {
  readonly origin: Origin
  /** The reasoning item that led to it. */
  readonly reasoningId: string | undefined
}

/** The content of an item that is neither said, thought nor a call of a function. */
export function itemContent(item: WireObject, { origin, reasoningId }: ItemPlace): Content {
  const type = stringOf(item['type']) ?? ''
  const id = stringOf(item['id'])
  const result = stringOf(item['result'])
  if (type === 'image_generation_call' && result !== undefined) {
    const { result: _bytes, id: itemId, ...rest } = item
    return {
      type: 'data',
      mediaType: `image/${stringOf(item['output_format']) ?? 'png'}`,
      data: result,
      origin,
      providerData: { ...rest, itemId, ...(reasoningId && { reasoningId }) },
    }
  }
  if (type === 'mcp_approval_request' && id !== undefined) {
    return {
      type: 'approval-request',
      id,
      hosted: true,
      call: {
        type: 'function-call',
        callId: id,
        name: stringOf(item['name']) ?? '',
        arguments: stringOf(item['arguments']) ?? '',
        informational: true,
      },
      origin,
      providerData: { serverLabel: item['server_label'], ...(reasoningId && { reasoningId }) },
    }
  }
  return {
    type: 'hosted',
    name: type.replace(/_call$/, ''),
    data: item,
    origin,
    ...defined({ id, providerData: reasoningId ? { reasoningId } : undefined }),
  }
}
