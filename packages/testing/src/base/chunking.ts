import type { ChatResponse, ChatResponseUpdate, Content } from '@lamella/core'
import { toUpdates } from '@lamella/core'
import { testRandom } from './test-random.ts'

/**
 * Rule for cutting a text into pieces: a maximum number of characters, `'char'` for single
 * characters, `'word'` after each run of white space, `'whole'` for one piece, `{ seed }` for
 * random places (the same for the same seed), or a function. Only a function may split a surrogate
 * pair.
 */
export type Chunking =
  | number
  | 'char'
  | 'word'
  | 'whole'
  | {
      /** Seed of the random places. */
      readonly seed: number
      /** Characters of the longest piece. @default 12 */
      readonly maxChars?: number | undefined
    }
  | ((text: string) => readonly string[])

/**
 * Cuts a text into pieces. Joined, they equal the text.
 * @throws RangeError for a size that is no whole number from 1 up, and for a function whose pieces
 * do not give the text.
 */
export function cutText(text: string, chunking: Chunking): readonly string[] {
  if (typeof chunking === 'function') {
    const pieces = chunking(text)
    if (pieces.join('') !== text) {
      throw new RangeError('chunking: the joined pieces must equal the text')
    }
    return pieces
  }
  if (text === '' || chunking === 'whole') return [text]
  if (chunking === 'word') return text.match(/\s*\S+\s*|\s+/gu) ?? [text]
  if (typeof chunking === 'object') {
    const { seed, maxChars = 12 } = chunking
    const random = testRandom(seed)
    return cutBySizes(text, () => 1 + Math.floor(random() * maxChars))
  }
  const size = chunking === 'char' ? 1 : chunking
  if (!Number.isInteger(size) || size < 1) {
    throw new RangeError(`chunking: a size must be a whole number from 1 up, got ${size}`)
  }
  return cutBySizes(text, () => size)
}

/** Replays a complete response as updates, with its texts and arguments cut. */
export function cutResponse(response: ChatResponse, chunking: Chunking): ChatResponseUpdate[] {
  let calls = 0
  return toUpdates(response).flatMap((update) => {
    if (update.contents.length === 0) return [update]
    const { contents, ...rest } = update
    return contents
      .flatMap((content) =>
        cutContent(content, chunking, content.type === 'function-call' ? calls++ : 0),
      )
      .map((content) => ({ ...rest, contents: [content] }))
  })
}

function cutContent(content: Content, chunking: Chunking, index: number): readonly Content[] {
  switch (content.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return cutText(content.text, chunking).map((text, position, { length }) =>
        // A fold adds annotations up, so that they may come once only.
        position < length - 1 ? { ...content, text, annotations: undefined } : { ...content, text },
      )
    case 'function-call':
      return cutText(content.arguments, chunking).map((piece) => ({
        ...content,
        arguments: piece,
        index,
      }))
    default:
      return [content]
  }
}

function cutBySizes(text: string, nextSize: () => number): readonly string[] {
  const characters = Array.from(text)
  const pieces: string[] = []
  for (let at = 0; at < characters.length; ) {
    const size = nextSize()
    pieces.push(characters.slice(at, at + size).join(''))
    at += size
  }
  return pieces
}
