import type { ChatOptions, Tool, ToolDefinition } from '@lamella/core'
import { jsonSchema } from '@lamella/core'
import type { HostedTool } from '@lamella/core/authoring'
import type { WireObject } from '@lamella/transport'
import { listOf, recordOf, stringOf } from '@lamella/transport'
import { callSettings } from '../client/call-options.ts'
import type { CallableModel } from '../model/language-model.ts'

/** The settings of the AI SDK that each option stands for. */
const settingsOf = {
  maxOutputTokens: ['maxOutputTokens'],
  temperature: ['temperature'],
  topP: ['topP'],
  seed: ['seed'],
  stop: ['stopSequences'],
  responseFormat: ['responseFormat'],
  reasoning: ['reasoning'],
  tools: ['tools'],
  toolChoice: ['toolChoice'],
  providerOptions: ['providerOptions', 'topK', 'presencePenalty', 'frequencyPenalty'],
} as const satisfies Partial<Record<keyof ChatOptions, readonly string[]>>

/** Translates the settings of a call to options and back. What no middleware changed stays as it was. */
export class ParamsTranslation {
  readonly #params: WireObject
  readonly #tools = new WeakMap<ToolDefinition, unknown>()
  readonly options: ChatOptions

  constructor(params: WireObject) {
    this.#params = params
    this.options = this.#toOptions(params)
  }

  /** The settings of a call with `options`, without its prompt and signal. */
  toParams(options: ChatOptions, model: CallableModel): WireObject {
    const params: Record<string, unknown> = { ...this.#params }
    const { settings } = callSettings(options, model)
    for (const [option, names] of Object.entries(settingsOf)) {
      const key = option as keyof typeof settingsOf
      if (options[key] === this.options[key]) continue
      for (const name of names) {
        if (settings[name] === undefined) delete params[name]
        else params[name] = settings[name]
      }
    }
    if (options.tools !== this.options.tools && options.tools !== undefined) {
      const made = listOf(settings['tools'])
      params['tools'] = options.tools.map((tool, at) => this.#tools.get(tool) ?? made[at])
    }
    return params
  }

  #toOptions(params: WireObject): ChatOptions {
    const { stopSequences, reasoning, topK, presencePenalty, frequencyPenalty } = params
    const own = Object.entries({ topK, presencePenalty, frequencyPenalty }).filter(
      ([, value]) => value !== undefined,
    )
    const providerOptions = {
      ...recordOf(params['providerOptions']),
      ...(own.length > 0 && { aiSdk: Object.fromEntries(own) }),
    }
    const options = {
      maxOutputTokens: params['maxOutputTokens'],
      temperature: params['temperature'],
      topP: params['topP'],
      seed: params['seed'],
      stop: stopSequences,
      reasoning: stringOf(reasoning) && { effort: reasoning },
      responseFormat: toResponseFormat(recordOf(params['responseFormat'])),
      tools: params['tools'] && listOf(params['tools']).map((tool) => this.#tool(recordOf(tool))),
      toolChoice: toToolChoice(recordOf(params['toolChoice'])),
      providerOptions: Object.keys(providerOptions).length > 0 ? providerOptions : undefined,
    }
    return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  }

  #tool(part: WireObject): ToolDefinition {
    const made = part['type'] === 'function' ? toTool(part) : toHostedTool(part)
    this.#tools.set(made, part)
    return made
  }
}

/** Not by `tool()`, which refuses names and schemas that the AI SDK takes. */
function toTool({ name, description, inputSchema }: WireObject): Tool {
  const described = recordOf(inputSchema)
  return {
    type: 'function',
    name: String(name),
    description: stringOf(description) ?? '',
    jsonSchema: described,
    parameters: jsonSchema(described),
    approval: 'never',
    returnDirect: false,
    idempotent: false,
    readOnly: false,
    exclusive: false,
    aliases: [],
  }
}

function toHostedTool(part: WireObject): HostedTool {
  return { type: 'hosted', name: String(part['name']), definition: part }
}

function toToolChoice({ type, toolName }: WireObject): ChatOptions['toolChoice'] {
  if (type === 'tool') return { mode: 'required', functionName: String(toolName) }
  return type === 'auto' || type === 'none' || type === 'required' ? type : undefined
}

function toResponseFormat({ type, schema, name }: WireObject): ChatOptions['responseFormat'] {
  if (type === 'text') return 'text'
  if (type !== 'json') return undefined
  if (schema === undefined) return 'json'
  return { schema: jsonSchema(recordOf(schema)), ...(typeof name === 'string' && { name }) }
}
