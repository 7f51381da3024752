import type { Annotation } from '@lamella/core/authoring'
import type { ArgumentAliases, WireObject } from '@lamella/transport'
import { defined } from '@lamella/transport'

export interface MapperContext {
  readonly provider: string
  /** Model as requested: the name for later requests. */
  readonly model: string | undefined
  readonly conversationId: string | undefined
  /** Options of the call that the API has no field for. */
  readonly ignored: readonly string[]
  /** Parts of the history that the request left out or changed. */
  readonly losses: readonly string[]
  /** Names of the tools in the request. */
  readonly toolNames: readonly string[]
  /** Names of properties that the request changed, by the name of the tool. */
  readonly aliases: ArgumentAliases
  /** Of spoken answers, which do not say it themselves. */
  readonly audioFormat?: string | undefined
  /** Reads metadata of a subclass's own from a response or an event. */
  readonly metadataOf?:
    | ((payload: WireObject) => Readonly<Record<string, unknown>> | undefined)
    | undefined
  /** Reads citations of a subclass's own from a message or a piece of one. Chat Completions only. */
  readonly annotationsOf?: ((message: WireObject) => readonly Annotation[]) | undefined
}

/** Notes for the caller about omitted or changed parts of the request. */
export function requestNotes({ ignored, losses }: MapperContext): {
  readonly ignoredOptions?: readonly string[]
  readonly losses?: readonly string[]
} {
  return defined({
    ignoredOptions: ignored.length > 0 ? ignored : undefined,
    losses: losses.length > 0 ? losses : undefined,
  })
}
