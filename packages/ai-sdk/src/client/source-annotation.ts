import type { Annotation } from '@lamella/core/authoring'
import type { WireObject } from '@lamella/transport'
import { recordOf, stringOf } from '@lamella/transport'

/** A source that an answer was made with, as a mark on its text. */
export function toSource(part: WireObject): Annotation {
  return { type: 'source', ...linkOf(part), metadata: { source: part } }
}

/** A source of one passage of a text. */
export function toCitation(value: unknown): Annotation {
  const { source, startIndex, endIndex, citedText } = recordOf(value)
  return {
    type: 'citation',
    ...linkOf(recordOf(source)),
    ...(typeof startIndex === 'number' && { start: startIndex }),
    ...(typeof endIndex === 'number' && { end: endIndex }),
    metadata: { source, ...(typeof citedText === 'string' && { citedText }) },
  }
}

function linkOf(source: WireObject): Pick<Annotation, 'uri' | 'title'> {
  const uri = stringOf(source['url'])
  const title = stringOf(source['title'])
  return { ...(uri !== undefined && { uri }), ...(title !== undefined && { title }) }
}
