import type { Annotation, ChatResponseUpdate } from '@lamella/core'
import type { EventMapper, WireObject } from '@lamella/core/transport'

export interface MapperContext {
  readonly provider: string
  /** As it was asked for: the name under which it will be asked again. */
  readonly model: string | undefined
  readonly conversationId: string | undefined
  /** Options of the call that the API has no field for. */
  readonly ignored: readonly string[]
  /** Of spoken answers, which do not say it themselves. */
  readonly audioFormat?: string | undefined
  /** What a subclass reads from a response or an event, for the metadata of the answer. */
  readonly metadataOf?:
    | ((payload: WireObject) => Readonly<Record<string, unknown>> | undefined)
    | undefined
  /** What a subclass cites from a message or a piece of one. Chat Completions only. */
  readonly annotationsOf?: ((message: WireObject) => readonly Annotation[]) | undefined
}

/** Makes updates of the events of one API, and of whole answers. */
export interface AnswerMapper extends EventMapper {
  /** Throws what the answer reports as an error, after the updates that it has for all that. */
  whole(answer: WireObject, updates: ChatResponseUpdate[]): void
}

/** What the caller may want to know of options that had no effect. */
export function ignoredOptions({ ignored }: MapperContext): {
  readonly ignoredOptions?: readonly string[]
} {
  return ignored.length > 0 ? { ignoredOptions: ignored } : {}
}
