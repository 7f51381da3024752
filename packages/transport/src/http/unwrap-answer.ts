import type { ChatRequest, ChatResponseUpdate } from '@lamella/core'
import { answerSchema } from '../schemas/answer-schema.ts'
import type { WireObject } from '../wire/wire.ts'
import type { EventMapper } from './event-stream.ts'

/** Makes updates of the events of an answer, or of a whole one. */
export interface AnswerMapper extends EventMapper {
  /** Appends the updates of an answer that came in one piece. */
  whole(body: WireObject, updates: ChatResponseUpdate[]): void
}

/** The mapper for the answer to a request. It takes the wrapper off the text again, in both modes. */
export function unwrapAnswer(
  { options: { responseFormat } }: Pick<ChatRequest, 'options'>,
  mapper: AnswerMapper,
): AnswerMapper {
  const isWrapped = typeof responseFormat === 'object' && answerSchema(responseFormat).isWrapped
  return isWrapped ? new UnwrappingMapper(mapper) : mapper
}

class UnwrappingMapper implements AnswerMapper {
  readonly #mapper: AnswerMapper
  #text = new ValueText()

  constructor(mapper: AnswerMapper) {
    this.#mapper = mapper
  }

  get isOver(): boolean {
    return this.#mapper.isOver
  }

  map(event: unknown, updates: ChatResponseUpdate[]): void {
    this.#unwrap(updates, (fresh) => this.#mapper.map(event, fresh))
  }

  whole(body: WireObject, updates: ChatResponseUpdate[]): void {
    this.#unwrap(updates, (fresh) => this.#mapper.whole(body, fresh))
    this.#flush(updates)
  }

  end(hasDoneMarker: boolean, updates: ChatResponseUpdate[]): boolean {
    let isComplete = false
    this.#unwrap(updates, (fresh) => (isComplete = this.#mapper.end(hasDoneMarker, fresh)))
    this.#flush(updates)
    return isComplete
  }

  /** Appends what the mapper makes, also when it throws. */
  #unwrap(updates: ChatResponseUpdate[], make: (fresh: ChatResponseUpdate[]) => unknown): void {
    const fresh: ChatResponseUpdate[] = []
    try {
      make(fresh)
    } finally {
      for (const update of fresh) {
        // Another content ends the text before it.
        if (update.contents.some(({ type }) => type !== 'text')) this.#flush(updates)
        const contents = update.contents.map((content) =>
          content.type === 'text' ? { ...content, text: this.#text.take(content.text) } : content,
        )
        updates.push({ ...update, contents })
      }
    }
  }

  /** Ends a text. What could have been the beginning of a wrapper, and is all that came, is text. */
  #flush(updates: ChatResponseUpdate[]): void {
    const text = this.#text.end()
    if (text !== '') updates.push({ contents: [{ type: 'text', text }] })
    this.#text = new ValueText()
  }
}

const opening = /^\s*\{\s*"value"\s*:\s*/
const longestOpening = 200

/** The text of a value, as that of `{ "value": … }` arrives. A text of another form stays as it is. */
class ValueText {
  #state: 'before' | 'within' | 'plain' = 'before'
  /** Text that may be the opening or the end of the wrapper. */
  #held = ''

  take(piece: string): string {
    if (this.#state === 'plain') return piece
    if (this.#state === 'within') return this.#within(piece)
    const text = this.#held + piece
    const [begin] = opening.exec(text) ?? []
    // White space may still follow the colon.
    if (begin !== undefined && begin.length < text.length) {
      this.#state = 'within'
      this.#held = ''
      return this.#within(text.slice(begin.length))
    }
    if (text.length <= longestOpening && '{"value":'.startsWith(text.replaceAll(/\s/g, ''))) {
      this.#held = text
      return ''
    }
    this.#state = 'plain'
    this.#held = ''
    return text
  }

  end(): string {
    return this.#state === 'before' ? this.#held : ''
  }

  /** Holds the last brace back, with the white space behind it. */
  #within(piece: string): string {
    const inked = piece.trimEnd()
    if (inked === '') {
      if (this.#held === '') return piece
      this.#held += piece
      return ''
    }
    const end = inked.endsWith('}') ? inked.length - 1 : piece.length
    const text = this.#held + piece.slice(0, end)
    this.#held = piece.slice(end)
    return text
  }
}
