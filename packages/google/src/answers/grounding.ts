import type { Annotation } from '@lamella/core/authoring'
import { listOf, recordOf, stringOf } from '@lamella/transport'

/**
 * The sources of an answer as annotations of its text. A range counts only if the text there is what the
 * source supports: Google counts in bytes, and in pieces of a stream not always from the start.
 */
export function annotationsOf(candidate: unknown, text: string): readonly Annotation[] {
  const { groundingMetadata, citationMetadata } = recordOf(candidate)
  if (groundingMetadata == null && citationMetadata == null) return []
  const { groundingChunks, groundingSupports } = recordOf(groundingMetadata)
  const sources = listOf(groundingChunks).map(sourceOf)
  const offsets = placesOf(text)
  const supported = new Set<number>()
  const found = listOf(groundingSupports).flatMap((support) => {
    const { segment, groundingChunkIndices, confidenceScores } = recordOf(support)
    const range = rangeOf(recordOf(segment), text, offsets)
    const scores = listOf(confidenceScores)
    return listOf(groundingChunkIndices).flatMap((index, at): Annotation[] => {
      const source = sources[Number(index)]
      if (source === undefined) return []
      supported.add(Number(index))
      const confidence = scores[at]
      const metadata = typeof confidence === 'number' ? { metadata: { confidence } } : {}
      return [{ ...source, ...range, ...metadata }]
    })
  })
  const others = sources.filter((_, index) => !supported.has(index))
  const cited = listOf(recordOf(citationMetadata)['citations']).map((citation): Annotation => {
    const { uri, title, license, ...segment } = recordOf(citation)
    return {
      ...known({ type: 'citation', uri, title }),
      ...rangeOf({ startIndex: 0, ...segment }, text, offsets),
      ...(stringOf(license) && { metadata: { license } }),
    }
  })
  return [...found, ...others, ...cited]
}

function sourceOf(chunk: unknown): Annotation {
  const { web, retrievedContext, maps, image, ...more } = recordOf(chunk)
  const source = recordOf(web ?? retrievedContext ?? maps ?? image ?? Object.values(more)[0])
  const { uri, title, sourceUri } = source
  return known({ type: 'grounding', uri: uri ?? sourceUri, title })
}

function known({ type, uri, title }: { type: string; uri: unknown; title: unknown }): Annotation {
  const address = stringOf(uri)
  const label = stringOf(title)
  return { type, ...(address && { uri: address }), ...(label && { title: label }) }
}

function rangeOf(
  { startIndex = 0, endIndex, text: words }: Readonly<Record<string, unknown>>,
  text: string,
  offsets: ReadonlyMap<unknown, number>,
): Pick<Annotation, 'start' | 'end'> {
  const start = offsets.get(startIndex)
  const end = offsets.get(endIndex)
  if (start === undefined || end === undefined || end < start) return {}
  return words === undefined || text.slice(start, end) === words ? { start, end } : {}
}

/** The places in a text, by those in its UTF-8 form. */
function placesOf(text: string): ReadonlyMap<unknown, number> {
  const encoder = new TextEncoder()
  const places = new Map<unknown, number>()
  let byte = 0
  let place = 0
  for (const char of text) {
    places.set(byte, place)
    byte += encoder.encode(char).length
    place += char.length
  }
  return places.set(byte, place)
}
