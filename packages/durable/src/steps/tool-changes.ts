import type { RunContext, ToolDefinition } from '@lamella/core'
import { LamellaError } from '@lamella/core'

type RunTools = RunContext['tools']

/** Finds a tool that a call of a run has added in an earlier pass. */
export type FindTool = (name: string, run: RunContext) => ToolDefinition | undefined

/** Changes that a tool call made to the tools of its run, by name. */
export interface ToolChanges {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly shown: readonly string[]
  readonly hidden: readonly string[]
}

/** Returns a function that tells what has changed since. Undefined if nothing has. */
export function changesSince(tools: RunTools): () => ToolChanges | undefined {
  const before = namesOf(tools)
  return () => {
    const after = namesOf(tools)
    const changes = {
      added: [...after.all].filter((name) => !before.all.has(name)),
      removed: [...before.all].filter((name) => !after.all.has(name)),
      shown: [...after.visible].filter((name) => before.all.has(name) && !before.visible.has(name)),
      hidden: [...after.all].filter(
        (name) => !after.visible.has(name) && (before.visible.has(name) || !before.all.has(name)),
      ),
    }
    return Object.values(changes).some((names) => names.length > 0) ? changes : undefined
  }
}

/**
 * Makes the changes again.
 * @throws LamellaError `unknown_tool` if an added tool is not found
 */
export function changeAgain(
  tools: RunTools,
  { added, removed, shown, hidden }: ToolChanges,
  find: (name: string) => ToolDefinition | undefined,
): void {
  tools.add(...added.map((name) => tools.get(name) ?? find(name) ?? missing(name)))
  tools.remove(...removed)
  tools.show(...shown)
  tools.hide(...hidden)
}

function namesOf(tools: RunTools): Record<'all' | 'visible', ReadonlySet<string>> {
  const names = (of: readonly ToolDefinition[]): ReadonlySet<string> =>
    new Set(of.map(({ name }) => name))
  return { all: names(tools.executable), visible: names(tools.visible) }
}

function missing(name: string): never {
  const problem = `durable: a restored call has added the tool "${name}"; pass it through \`findTool\``
  throw new LamellaError(problem, { code: 'unknown_tool' })
}
