import type { AgentContext, AgentMiddleware, ToolDefinition } from '@lamella/core'
import { defineState, jsonSchema } from '@lamella/core'
import type { MiddlewareOptions } from '@lamella/core/authoring'
import {
  checkOptions,
  defineAgentMiddleware,
  middlewareRules,
  wrongOption,
} from '@lamella/core/authoring'

/** Options of `deferTools`. */
export interface DeferToolsOptions
  extends Pick<MiddlewareOptions<AgentContext>, 'name' | 'when' | 'mode'> {
  /** Names of the tools, or a function that is true for each of them. */
  readonly tools: readonly string[] | ((tool: ToolDefinition) => boolean)
  /**
   * Keeps tools that were found to the end of the run, or in the later runs of its session as well.
   * @default 'run'
   */
  readonly scope?: 'run' | 'session' | undefined
}

/**
 * Defers tools at the start of each run, so that the model sees one only after a search (`toolSearch()` of
 * `@lamella/core`, or a hosted search). A function sees the tools that the run has when it starts: put the middleware
 * behind one that adds tools.
 * @throws TypeError that names the option and the value
 * @example
 * ```ts
 * import { Agent, tool, toolSearch } from '@lamella/core'
 * import { deferTools } from '@lamella/middleware-truncate'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const invoice = tool({ name: 'find_invoice', description: 'Finds an invoice.', execute: () => 'paid' })
 * const agent = new Agent({
 *   client: scriptedClient(['Hello.']),
 *   tools: [toolSearch({ list: true }), invoice],
 *   middleware: deferTools({ tools: ['find_invoice'], scope: 'session' }),
 * })
 * await agent.run('Hi')
 * ```
 */
export function deferTools(options: DeferToolsOptions): AgentMiddleware {
  check(options)
  const { name = 'defer-tools', tools, scope = 'run' } = options
  const isChosen =
    typeof tools === 'function' ? tools : ({ name: tool }: ToolDefinition) => tools.includes(tool)
  const found = defineState<readonly string[]>({
    name: `defer-tools:${name}`,
    initial: () => [],
    schema: jsonSchema({ type: 'array', items: { type: 'string' } }),
    scope,
  })

  return defineAgentMiddleware('defer-tools', options, async ({ run, resumed }, callNext) => {
    const shown = new Set(run.state.get(found))
    const chosen = (): readonly string[] =>
      [...run.tools].filter((tool) => isChosen(tool)).map((tool) => tool.name)
    // A resumed run has its tools as they were.
    if (!resumed) {
      const names = typeof tools === 'function' ? chosen() : tools
      run.tools.defer(...names.filter((tool) => !shown.has(tool)))
    }
    try {
      await callNext()
    } finally {
      const waiting = new Set(run.tools.deferred.map((tool) => tool.name))
      const all = chosen().filter((tool) => shown.has(tool) || !waiting.has(tool))
      if (all.length > shown.size) run.state.update(found, () => all)
    }
  })
}

function check(options: DeferToolsOptions): void {
  const owner = 'deferTools'
  checkOptions(owner, options, {
    name: middlewareRules.name,
    when: middlewareRules.when,
    mode: middlewareRules.mode,
    tools: 'any',
    scope: ['run', 'session'],
  })
  const { tools } = options
  const isList = Array.isArray(tools) && tools.every((name) => typeof name === 'string')
  if (!isList && typeof tools !== 'function') {
    throw wrongOption(owner, 'tools', 'a list of names, or a function', tools)
  }
}
