import { recordOf, stringOf } from '@lamella/transport'
import type { WireObject } from '@lamella/transport'

/** Version of the language model specification that a model follows. */
export type AiSdkVersion = 'v2' | 'v3' | 'v4'

/**
 * A language model of the AI SDK, of specification v2 (`ai` 5), v3 (`ai` 6) or v4 (`ai` 7). Every
 * `LanguageModelV2`, `LanguageModelV3` and `LanguageModelV4` fits.
 */
export interface AiSdkModel {
  /** Version of the specification. */
  readonly specificationVersion: AiSdkVersion
  /** Provider and API, such as `openai.responses`. */
  readonly provider: string
  /** Id of the model at its provider. */
  readonly modelId: string
  /** Links that the model opens itself, by media type. */
  readonly supportedUrls:
    | PromiseLike<Readonly<Record<string, readonly RegExp[]>>>
    | Readonly<Record<string, readonly RegExp[]>>
  /** Makes one plain model call. */
  doGenerate(options: never): PromiseLike<object>
  /** Makes one streamed model call. */
  doStream(options: never): PromiseLike<AiSdkStreamResult>
}

/** Result of a streamed call of a model. */
export interface AiSdkStreamResult {
  /** Parts of the answer. */
  readonly stream: ReadableStream<unknown>
}

/** A model as this package calls it, whatever its version. */
export interface CallableModel {
  readonly specificationVersion: AiSdkVersion
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls: AiSdkModel['supportedUrls']
  doGenerate(options: WireObject): PromiseLike<object>
  doStream(options: WireObject): PromiseLike<AiSdkStreamResult>
}

const versions = new Set<unknown>(['v2', 'v3', 'v4'])

/**
 * The model in a form that can be called.
 * @throws TypeError for anything but a model of a known version
 */
export function callableModel(owner: string, model: AiSdkModel): CallableModel {
  const { specificationVersion, provider, modelId, doGenerate, doStream } = recordOf(model)
  if (typeof model === 'string') {
    throw new TypeError(
      `${owner}: \`model\` must be a model object such as openai('gpt-5'), got the string "${String(model)}"`,
    )
  }
  const isModel =
    stringOf(provider) !== undefined &&
    stringOf(modelId) !== undefined &&
    typeof doGenerate === 'function' &&
    typeof doStream === 'function'
  if (!isModel) {
    throw new TypeError(`${owner}: \`model\` must be a language model of the AI SDK`)
  }
  if (!versions.has(specificationVersion)) {
    throw new TypeError(
      `${owner}: \`model\` must be of specification v2, v3 or v4, got ${String(specificationVersion)}`,
    )
  }
  return model
}
