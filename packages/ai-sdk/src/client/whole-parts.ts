import type { WireObject } from '@lamella/transport'
import { listOf, recordOf } from '@lamella/transport'

/** The answer of a plain call as the parts that a stream of it would have, up to `finish`. */
export function* partsOf(result: WireObject): Iterable<WireObject> {
  const { id, modelId, timestamp } = recordOf(result['response'])
  yield { type: 'stream-start', warnings: result['warnings'] }
  if ((id ?? modelId ?? timestamp) !== undefined) {
    yield { type: 'response-metadata', id, modelId, timestamp }
  }
  for (const [index, value] of listOf(result['content']).entries()) {
    const content = recordOf(value)
    const { type, text, citations, providerMetadata } = content
    if (type === 'text' || type === 'reasoning') {
      const block = { id: index }
      yield { type: `${type}-start`, ...block, providerMetadata }
      yield { type: `${type}-delta`, ...block, delta: text }
      yield { type: `${type}-end`, ...block, citations }
    } else {
      yield content
    }
  }
}
