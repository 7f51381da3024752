/** A value of a span attribute. */
export type Fact = string | number | boolean | readonly string[] | undefined

/** Attributes by the names of the latest conventions. Undefined values are omitted. */
export type Facts = Readonly<Record<string, Fact>>

/** Versions of OpenTelemetry's semantic conventions that can be written. */
export const semconvVersions = ['1.36', '1.45'] as const

/** Version of the semantic conventions. */
export type SemconvVersion = (typeof semconvVersions)[number]

/**
 * Names of a version of the conventions. Our own names begin with `lamella.` and are the same in each.
 */
export interface Conventions {
  readonly version: SemconvVersion
  readonly schemaUrl: string
  /** Names of this version, without later ones. */
  attributes(facts: Facts): Record<string, string | number | boolean | string[]>
}

export function conventionsOf(version: SemconvVersion): Conventions {
  const isOld = version === '1.36'
  return {
    version,
    schemaUrl: `https://opentelemetry.io/schemas/${version}.0`,
    attributes(facts) {
      const attributes: Record<string, string | number | boolean | string[]> = {}
      for (const [name, value] of Object.entries(facts)) {
        if (value === undefined || (isOld && newer.has(name))) continue
        if (isOld && name === providerName) attributes['gen_ai.system'] = oldSystem(String(value))
        else attributes[name] = typeof value === 'object' ? [...value] : value
      }
      return attributes
    },
  }
}

/**
 * Version to write. `OTEL_SEMCONV_STABILITY_OPT_IN` of the operator overrides the code.
 */
export function semconvFor(chosen: SemconvVersion = '1.45'): SemconvVersion {
  const optIn = globalThis.process?.env['OTEL_SEMCONV_STABILITY_OPT_IN'] ?? ''
  const wishes = optIn.split(',').map((wish) => wish.trim())
  return wishes.includes('gen_ai_latest_experimental') ? '1.45' : chosen
}

export const providerName = 'gen_ai.provider.name'

/** Maps our providers to their names in the conventions. */
export function providerOf(provider: string): string {
  return provider === 'azure-openai' ? 'azure.ai.openai' : provider
}

function oldSystem(provider: string): string {
  return provider === 'azure.ai.openai' ? 'az.ai.openai' : provider
}

/** Came after 1.36. */
const newer: ReadonlySet<string> = new Set([
  'gen_ai.input.messages',
  'gen_ai.output.messages',
  'gen_ai.request.stream',
  'gen_ai.response.time_to_first_chunk',
  'gen_ai.system_instructions',
  'gen_ai.tool.call.arguments',
  'gen_ai.tool.call.result',
  'gen_ai.usage.cache_creation.input_tokens',
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.usage.reasoning.output_tokens',
])
