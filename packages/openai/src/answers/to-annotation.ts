import type { Annotation } from '@lamella/core/authoring'
import { defined, listOf, recordOf, stringOf, unlessEmpty } from '@lamella/transport'

/** A citation of either API, with its offsets moved by where its part begins. */
export function toAnnotation(value: unknown, offset = 0): Annotation {
  const { type, ...rest } = recordOf(value)
  // Chat Completions puts the fields in an object called as the type.
  const {
    url,
    title,
    filename,
    start_index: start,
    end_index: end,
    index,
    ...more
  } = {
    ...rest,
    ...recordOf(rest[stringOf(type) ?? '']),
  }
  delete more[stringOf(type) ?? '']
  const from = typeof start === 'number' ? start : index
  return {
    type: stringOf(type) ?? 'citation',
    ...defined({
      uri: stringOf(url),
      title: stringOf(title) ?? stringOf(filename),
      start: typeof from === 'number' ? from + offset : undefined,
      end: typeof end === 'number' ? end + offset : undefined,
      metadata: unlessEmpty(more),
    }),
  }
}

/** A list of URLs beside the answer (Perplexity): citations of the whole. */
export function toCitations(urls: unknown): readonly Annotation[] {
  return listOf(urls).flatMap((url) => {
    const uri = stringOf(url) ?? stringOf(recordOf(url)['url'])
    return uri === undefined ? [] : [{ type: 'url_citation', uri }]
  })
}
