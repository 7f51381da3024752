import type { Annotation, Content, Origin } from '@lamella/core'
import type { WireObject } from './wire.ts'
import { listOf, record, stringOf } from './wire.ts'

/** What is known of an output item besides what it says itself. */
export interface ItemPlace {
  readonly origin: Origin
  /** The reasoning item that led to it. */
  readonly reasoningId: string | undefined
}

/** The content of an item that is neither said, thought nor a call of a function. */
export function itemContent(item: WireObject, { origin, reasoningId }: ItemPlace): Content {
  const type = String(item['type'])
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
    ...(id !== undefined && { id }),
    data: item,
    origin,
    ...(reasoningId && { providerData: { reasoningId } }),
  }
}

/** A citation of either API, with its offsets moved by where its part begins. */
export function toAnnotation(value: unknown, offset = 0): Annotation {
  const { type, ...rest } = record(value)
  // Chat Completions puts the fields in an object called as the type.
  const { url, title, filename, start_index: start, end_index: end, index, ...more } = {
    ...rest,
    ...record(rest[String(type)]),
  }
  delete more[String(type)]
  const uri = stringOf(url)
  const label = stringOf(title) ?? stringOf(filename)
  const from = typeof start === 'number' ? start : index
  return {
    type: stringOf(type) ?? 'citation',
    ...(uri !== undefined && { uri }),
    ...(label !== undefined && { title: label }),
    ...(typeof from === 'number' && { start: from + offset }),
    ...(typeof end === 'number' && { end: end + offset }),
    ...(Object.keys(more).length > 0 && { metadata: more }),
  }
}

/** A list of URLs beside the answer (Perplexity): citations of the whole. */
export function toCitations(urls: unknown): readonly Annotation[] {
  return listOf(urls).flatMap((url) => {
    const uri = stringOf(url) ?? stringOf(record(url)['url'])
    return uri === undefined ? [] : [{ type: 'url_citation', uri }]
  })
}
