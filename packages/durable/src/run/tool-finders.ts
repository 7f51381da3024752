import type { AgentMiddleware, MiddlewareInput, RunContext, ToolDefinition } from '@lamella/core'
import { agentMiddleware } from '@lamella/core'
import { perRun } from '@lamella/core/authoring'
import type { FindTool } from '../steps/tool-changes.ts'
import { flat } from './place-in-list.ts'

/** One that may know a tool by its name. */
interface ToolFinder {
  findTool?: ((name: string) => ToolDefinition | undefined) | undefined
}

/**
 * Finds tools that calls have added: by the options of the run, and by the middleware of the agent whose run it is, or
 * of those around it. `middleware` notes the agent of each run.
 */
export function toolFinders(
  options: ToolFinder & { readonly middleware?: MiddlewareInput | undefined },
): {
  readonly find: FindTool
  readonly middleware: AgentMiddleware
} {
  const listOf = perRun<{ finders: readonly ToolFinder[] }>(() => ({ finders: [] }))
  const own = [options, ...flat(options.middleware ?? [])]
  const findersOf = (run: RunContext | undefined): readonly ToolFinder[] =>
    run === undefined ? own : [...listOf(run).finders, ...findersOf(run.parent)]
  const middleware = agentMiddleware('durable', ({ run, agent }, callNext) => {
    listOf(run).finders = flat(agent.middleware)
    return callNext()
  })
  return {
    find(name, run) {
      const found = findersOf(run).map((each) => each.findTool?.(name))
      return found.find((tool) => tool !== undefined)
    },
    middleware: { ...middleware, inherited: true },
  }
}
