import type { ChatContext, ChatMiddleware, ToolDefinition } from '@lamella/core'
import type { GuardrailEvent } from '@lamella/guardrail'
import { GuardrailTripped } from '@lamella/core'
import type { MiddlewareOptions } from '@lamella/core/authoring'
import { defineChatMiddleware, reporter } from '@lamella/core/authoring'
import type { InjectionAssessment } from './assess/assess-text.ts'

export interface ToolDefinitionOptions extends MiddlewareOptions<ChatContext, GuardrailEvent> {
  readonly name: string
  /**
   * Action for a tool whose definition is an attack: end the run, hide the tool, or only report it.
   */
  readonly action: 'block' | 'strip' | 'flag'
  readonly threshold: number
  readonly message: string
}

/**
 * Creates the middleware that checks tool definitions, which the operator of a tool server has
 * written.
 */
export function toolDefinitions(
  assess: (text: string) => InjectionAssessment,
  options: ToolDefinitionOptions,
): ChatMiddleware {
  const { action, message, mode, name, threshold } = options
  const known = new WeakMap<ToolDefinition, InjectionAssessment>()
  const report = reporter('guardrail', options.onEvent)
  const read = (tool: ToolDefinition): InjectionAssessment => {
    const assessment = known.get(tool) ?? assess(textOf(tool))
    known.set(tool, assessment)
    return assessment
  }

  return defineChatMiddleware('injection', options, async (context, callNext) => {
    const { tools = [] } = context.options
    const attacks = tools.filter((tool) => read(tool).score >= threshold)
    for (const tool of attacks) {
      const { category = 'custom', score: severity } = read(tool)
      const status = mode === 'shadow' ? mode : statuses[action]
      report(context.run, { guardrail: name, stage: 'instructions', status, category, severity })
      if (mode !== 'shadow' && action === 'block') {
        const block = { guardrail: name, level: 'chat', stage: 'input', category, message } as const
        throw new GuardrailTripped(block)
      }
    }
    if (attacks.length > 0 && action === 'strip' && mode !== 'shadow') {
      const rest = tools.filter((tool) => !attacks.includes(tool))
      context.options = { ...context.options, tools: rest }
    }
    await callNext()
  })
}

const statuses = { block: 'blocked', strip: 'replaced', flag: 'flagged' } as const

function textOf(tool: ToolDefinition): string {
  if (tool.type === 'hosted') return JSON.stringify(tool.definition)
  const { description, jsonSchema, name } = tool
  return [name, description, ...stringsIn(jsonSchema)].join('\n')
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [key, ...stringsIn(inner)])
}
