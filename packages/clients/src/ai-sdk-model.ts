/** Settings of the provider, and a model's name. */
export interface AiSdkRequest {
  /** Name of the package, for errors. */
  readonly packageName: string
  readonly model: string
  /** Settings of the package's create function. Undefined takes the provider that it exports. */
  readonly settings: unknown
}

type Provider = ((model: string) => unknown) & {
  readonly languageModel: (model: string) => unknown
}

/**
 * The model of a provider package of the AI SDK. Each exports a provider, such as `mistral`, and a
 * function that creates one with settings, such as `createMistral`.
 * @throws TypeError for a package without them
 */
export function aiSdkModel(
  module: Readonly<Record<string, unknown>>,
  { packageName, model, settings }: AiSdkRequest,
): unknown {
  const provider =
    (settings === undefined ? Object.values(module).find(isProvider) : undefined) ??
    created(module, settings)
  if (provider === undefined) {
    throw new TypeError(`clientFor: ${packageName} exports no provider of language models`)
  }
  return provider.languageModel(model)
}

function created(
  module: Readonly<Record<string, unknown>>,
  settings: unknown,
): Provider | undefined {
  for (const [name, create] of Object.entries(module)) {
    if (typeof create !== 'function' || !/^create[A-Z]/.test(name)) continue
    const provider: unknown = create(settings ?? {})
    if (isProvider(provider)) return provider
  }
  return undefined
}

function isProvider(value: unknown): value is Provider {
  return (
    typeof value === 'function' &&
    typeof (value as { languageModel?: unknown }).languageModel === 'function'
  )
}
