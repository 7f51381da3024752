import type { Annotation, ChatResponseUpdate } from '@lamella/core'
import type { EventMapper, WireObject } from '@lamella/core/transport'
import { defined } from '@lamella/core/transport'

export interface MapperContext {
  readonly provider: string
  /** As it was asked for: the name under which it will be asked again. */
  readonly model: string | undefined
  readonly conversationId: string | undefined
  /** Options of the call that the API has no field for. */
  readonly ignored: readonly string[]
  /** Parts of the history that the request left out or changed. */
  readonly losses: readonly string[]
  /** Of spoken answers, which do not say it themselves. */
  readonly audioFormat?: string | undefined
  /** Reads metadata of a subclass's own from a response or an event. */
  readonly metadataOf?:
    | ((payload: WireObject) => Readonly<Record<string, unknown>> | undefined)
    | undefined
  /** Reads citations of a subclass's own from a message or a piece of one. Chat Completions only. */
  readonly annotationsOf?: ((message: WireObject) => readonly Annotation[]) | undefined
}

/** Makes updates of the events of one API, and of whole answers. */
export interface AnswerMapper extends EventMapper {
  /** Throws what the answer reports as an error, after the updates that it has for all that. */
  whole(answer: WireObject, updates: ChatResponseUpdate[]): void
}

/** Notes for the caller of what the request left out or changed. */
export function requestNotes({ ignored, losses }: MapperContext): {
  readonly ignoredOptions?: readonly string[]
  readonly losses?: readonly string[]
} {
  return defined({
    ignoredOptions: ignored.length > 0 ? ignored : undefined,
    losses: losses.length > 0 ? losses : undefined,
  })
}
