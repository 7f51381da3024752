import { LamellaError } from '../base/lamella-error.ts'
import type { RunToolsSnapshot } from '../contract/outcome.ts'
import type { RunTools, ToolDefinition } from '../contract/run.ts'

/**
 * The tools of one run. A list that it has returned never changes; a change makes a new one, in
 * which what became visible later comes last. While nothing changes it is the same list. Both keep
 * the prompt caches of providers warm.
 */
export class LiveTools implements RunTools {
  #executable: readonly ToolDefinition[]
  #visible: readonly ToolDefinition[]
  /** True if `#visible` may be outdated. */
  #changed = false
  #withheld: Map<string, 'hidden' | 'deferred'> | undefined
  #returnDirect: Map<string, boolean> | undefined

  /**
   * `tools` is what the model is shown, used as it is while nothing changes; `unadvertised` is
   * executable, but hidden where it is not among `tools`.
   * @throws LamellaError `tool_conflict` if two different tools have one name
   */
  constructor(tools: readonly ToolDefinition[], unadvertised: readonly ToolDefinition[] = []) {
    this.#visible = this.#executable = distinct(tools)
    if (unadvertised.length === 0) return
    this.#executable = distinct([...tools, ...unadvertised])
    this.#withhold(this.#executable.slice(this.#visible.length).map(nameOf), 'hidden')
  }

  get executable(): readonly ToolDefinition[] {
    return this.#executable
  }

  get visible(): readonly ToolDefinition[] {
    if (this.#changed) {
      this.#changed = false
      const before = this.#visible
      const shown = new Set(this.#executable.filter(({ name }) => !this.#withheld?.has(name)))
      const kept = before.filter((tool) => shown.has(tool))
      if (kept.length < before.length || kept.length < shown.size) {
        this.#visible = [...new Set([...kept, ...shown])]
      }
    }
    return this.#visible
  }

  get deferred(): readonly ToolDefinition[] {
    return this.#executable.filter(({ name }) => this.#withheld?.get(name) === 'deferred')
  }

  [Symbol.iterator](): Iterator<ToolDefinition> {
    return this.#executable.values()
  }

  get(name: string): ToolDefinition | undefined {
    const all = this.#executable
    return (
      all.find((tool) => tool.name === name) ??
      all.find((tool) => tool.type === 'function' && tool.aliases?.includes(name))
    )
  }

  add(...tools: readonly ToolDefinition[]): void {
    const all = distinct([...this.#executable, ...tools])
    if (all.length === this.#executable.length) return
    this.#executable = all
    this.#changed = true
  }

  remove(...tools: readonly (string | ToolDefinition)[]): void {
    const gone = this.#executable.filter(
      (tool) => tools.includes(tool) || tools.includes(tool.name),
    )
    if (gone.length === 0) return
    this.#executable = this.#executable.filter((tool) => !gone.includes(tool))
    for (const { name } of gone) this.#returnDirect?.delete(name)
    this.show(...gone.map(nameOf))
  }

  /** Also holds for a tool of that name that is added later. */
  hide(...names: readonly string[]): void {
    this.#withhold(names, 'hidden')
  }

  show(...names: readonly string[]): void {
    this.#withhold(names)
  }

  /** Also holds for a tool of that name that is added later. */
  defer(...names: readonly string[]): void {
    this.#withhold(names, 'deferred')
  }

  setReturnDirect(name: string, value: boolean): void {
    this.#returnDirect = new Map(this.#returnDirect).set(name, value)
  }

  /**
   * Returns true if the tool's result is the answer of the run: the last override, else the tool's
   * `returnDirect`.
   */
  returnsDirect(name: string): boolean {
    const tool = this.get(name)
    return (
      this.#returnDirect?.get(tool?.name ?? name) ??
      (tool?.type === 'function' && tool.returnDirect)
    )
  }

  snapshot(): RunToolsSnapshot {
    return {
      visible: this.visible.map(nameOf),
      withheld: [...(this.#withheld ?? [])],
      returnDirect: [...(this.#returnDirect ?? [])],
    }
  }

  /**
   * Takes a snapshot over. The tools themselves are not in it; those that are missing are ignored,
   * and what it does not show stays withheld.
   */
  restore({ visible, withheld, returnDirect }: RunToolsSnapshot): void {
    this.#visible = visible.flatMap((name) => this.get(name) ?? [])
    this.show(...visible)
    this.#withheld = new Map([...this.#withheld!, ...withheld])
    this.#returnDirect = new Map(returnDirect)
  }

  #withhold(names: readonly string[], how?: 'hidden' | 'deferred'): void {
    this.#changed = true
    this.#withheld ??= new Map()
    for (const name of names) {
      if (how === undefined) this.#withheld.delete(name)
      else this.#withheld.set(name, how)
    }
  }
}

/** Lists that were found to be without repetition, as they were then. */
const checked = new WeakMap<readonly ToolDefinition[], readonly ToolDefinition[]>()

/**
 * Each tool once: the list itself where it has no repetition.
 * @throws LamellaError `tool_conflict` if two different tools have one name
 */
function distinct(tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
  const before = checked.get(tools)
  if (before?.length === tools.length && before.every((tool, at) => tool === tools[at]))
    return tools
  const byName = new Map<string, ToolDefinition>()
  for (const tool of tools) {
    if ((byName.get(tool.name) ?? tool) !== tool) {
      throw new LamellaError(`two different tools are named "${tool.name}"`, {
        code: 'tool_conflict',
      })
    }
    byName.set(tool.name, tool)
  }
  if (byName.size < tools.length) return [...byName.values()]
  checked.set(tools, [...tools])
  return tools
}

function nameOf({ name }: ToolDefinition): string {
  return name
}
