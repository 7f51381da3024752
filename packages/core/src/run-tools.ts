import { LamellaError } from './lamella-error.ts'
import type { RunTools } from './run-context.ts'
import type { ToolDefinition } from './tool.ts'

/** What a run changed about its tools, by name, for a checkpoint. */
export interface RunToolsSnapshot {
  /** What the model was shown, in that order. */
  readonly visible: readonly string[]
  readonly withheld: readonly (readonly [name: string, how: 'hidden' | 'deferred'])[]
  readonly returnDirect: readonly (readonly [name: string, value: boolean])[]
}

/**
 * The tools of one run. A list that it has returned never changes; a change makes a new one, in
 * which what became visible later comes last. While nothing changes it is the same list. Both keep
 * the prompt caches of providers warm.
 */
export class LiveTools implements RunTools {
  /** In the order of `executable`. */
  readonly #byName = new Map<string, ToolDefinition>()
  #withheld = new Map<string, 'hidden' | 'deferred'>()
  #returnDirect = new Map<string, boolean>()
  #executable: readonly ToolDefinition[] | undefined
  #visible: readonly ToolDefinition[]
  #visibleVersion = 0
  #version = 0

  /**
   * `tools` is what the model is shown, used as it is while nothing changes; `unadvertised` is
   * executable, but hidden where it is not among `tools`.
   * @throws LamellaError `tool_conflict` if two different tools have one name
   */
  constructor(tools: readonly ToolDefinition[], unadvertised: readonly ToolDefinition[] = []) {
    this.#register(tools)
    this.#visible = this.#byName.size === tools.length ? tools : [...this.#byName.values()]
    this.#executable = this.#visible
    if (unadvertised.length > 0) {
      for (const { name } of this.#register(unadvertised)) this.#withheld.set(name, 'hidden')
      this.#executable = undefined
    }
  }

  /** Increases with every change. */
  get version(): number {
    return this.#version
  }

  get executable(): readonly ToolDefinition[] {
    return (this.#executable ??= [...this.#byName.values()])
  }

  get visible(): readonly ToolDefinition[] {
    if (this.#visibleVersion !== this.#version) {
      this.#visibleVersion = this.#version
      const before = this.#visible
      const added = new Set(this.executable.filter(({ name }) => !this.#withheld.has(name)))
      const kept = before.filter((tool) => added.delete(tool))
      if (kept.length < before.length || added.size > 0) this.#visible = [...kept, ...added]
    }
    return this.#visible
  }

  get deferred(): readonly ToolDefinition[] {
    return this.executable.filter(({ name }) => this.#withheld.get(name) === 'deferred')
  }

  [Symbol.iterator](): Iterator<ToolDefinition> {
    return this.executable[Symbol.iterator]()
  }

  get(name: string): ToolDefinition | undefined {
    return this.#byName.get(name)
  }

  add(...tools: readonly ToolDefinition[]): void {
    if (this.#register(tools).length > 0) this.#relist()
  }

  remove(...tools: readonly (string | ToolDefinition)[]): void {
    for (const tool of tools) {
      const name = typeof tool === 'string' ? tool : tool.name
      const found = this.#byName.get(name)
      if (found === undefined || (found !== tool && name !== tool)) continue
      this.#byName.delete(name)
      this.#withheld.delete(name)
      this.#returnDirect.delete(name)
      this.#relist()
    }
  }

  /** Also holds for a tool of that name that is added later. */
  hide(...names: readonly string[]): void {
    for (const name of names) this.#set(this.#withheld, name, 'hidden')
  }

  show(...names: readonly string[]): void {
    for (const name of names) if (this.#withheld.delete(name)) this.#version++
  }

  /** Also holds for a tool of that name that is added later. */
  defer(...names: readonly string[]): void {
    for (const name of names) this.#set(this.#withheld, name, 'deferred')
  }

  setReturnDirect(name: string, value: boolean): void {
    this.#set(this.#returnDirect, name, value)
  }

  /** Whether the tool's result is the answer of the run: what was set last, else what the tool says. */
  returnsDirect(name: string): boolean {
    const tool = this.#byName.get(name)
    return this.#returnDirect.get(name) ?? (tool?.type === 'function' && tool.returnDirect)
  }

  snapshot(): RunToolsSnapshot {
    return {
      visible: this.visible.map(({ name }) => name),
      withheld: [...this.#withheld],
      returnDirect: [...this.#returnDirect],
    }
  }

  /**
   * Takes a snapshot over. The tools themselves are not in it; those that are missing are ignored,
   * and what it does not show stays withheld.
   */
  restore({ visible, withheld, returnDirect }: RunToolsSnapshot): void {
    this.#visible = visible.flatMap((name) => this.#byName.get(name) ?? [])
    for (const name of visible) this.#withheld.delete(name)
    this.#withheld = new Map([...this.#withheld, ...withheld])
    this.#returnDirect = new Map(returnDirect)
    this.#version++
  }

  /** Takes in all of them or none, and returns the new ones. */
  #register(tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
    const added: ToolDefinition[] = []
    for (const tool of tools) {
      const known = this.#byName.get(tool.name)
      if (known === tool) continue
      if (known !== undefined) {
        for (const { name } of added) this.#byName.delete(name)
        throw new LamellaError(`two different tools are named "${tool.name}"`, {
          code: 'tool_conflict',
        })
      }
      this.#byName.set(tool.name, tool)
      added.push(tool)
    }
    return added
  }

  #relist(): void {
    this.#executable = undefined
    this.#version++
  }

  #set<Value>(map: Map<string, Value>, name: string, value: Value): void {
    if (map.get(name) === value) return
    map.set(name, value)
    this.#version++
  }
}
