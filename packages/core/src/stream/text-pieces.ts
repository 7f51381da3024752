import { LamellaError } from '../base/lamella-error.ts'

/** Options of `stream.text`. */
export interface TextOptions {
  /**
   * Called when the reader must discard the text so far, because it restarts.
   * @default the stream throws `stream_restarted`
   */
  readonly onRestart?: (() => void) | undefined
}

interface TextUpdate {
  readonly contents?: readonly { readonly type: string; readonly text?: string }[]
  readonly role?: string | undefined
  readonly restart?: true | undefined
  readonly scope?: 'call' | 'run' | undefined
}

/**
 * Yields the text of a stream as it arrives. When a model call restarts and repeats the text so
 * far, the text continues. If it differs, `onRestart` is called and the whole text follows; without
 * that option an error is thrown, so that no reader keeps a wrong text.
 */
export async function* textPieces(
  stream: AsyncIterable<unknown>,
  options: TextOptions = {},
): AsyncGenerator<string> {
  let shown = ''
  /** Position in the text; less than the length of `shown` while a restart repeats text. */
  let position = 0
  /** Position at the start of the current model call. */
  let mark = 0
  const diverge = (): void => {
    if (options.onRestart === undefined) throw restarted()
    options.onRestart()
  }
  for await (const update of stream as AsyncIterable<TextUpdate>) {
    if (update.restart === true) {
      if (update.scope === 'run') mark = 0
      position = mark
      continue
    }
    if (update.role === 'tool') {
      mark = position
      continue
    }
    if (update.role === 'user' || update.role === 'system') continue
    for (const content of update.contents ?? []) {
      if (content.type !== 'text' || !content.text) continue
      let piece = content.text
      const known = shown.slice(position, position + piece.length)
      if (piece.startsWith(known)) {
        position += known.length
        piece = piece.slice(known.length)
        if (piece === '') continue
      } else {
        diverge()
        piece = shown.slice(0, position) + piece
        shown = ''
      }
      shown += piece
      position = shown.length
      yield piece
    }
  }
  if (position === shown.length) return
  diverge()
  if (position > 0) yield shown.slice(0, position)
}

function restarted(): LamellaError {
  return new LamellaError(
    'the text began anew after part of it was shown: pass `onRestart` to text(), or read finalResponse()',
    { code: 'stream_restarted' },
  )
}
