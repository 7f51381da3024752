import type { Annotation } from '@lamella/core/authoring'
import { recordOf, stringOf } from '@lamella/transport'

/** A citation of the text between `start` and `end`, where the claim stands that it supports. */
export function toAnnotation(citation: unknown, start: number, end: number): Annotation {
  const { type, url, source, title, document_title: documentTitle, ...more } = recordOf(citation)
  const uri = stringOf(url) ?? stringOf(source)
  const label = stringOf(title) ?? stringOf(documentTitle)
  const known = Object.entries(more).filter(([, value]) => value != null)
  return {
    type: stringOf(type) ?? 'citation',
    ...(uri !== undefined && { uri }),
    ...(label !== undefined && { title: label }),
    start,
    end,
    ...(known.length > 0 && { metadata: Object.fromEntries(known) }),
  }
}
