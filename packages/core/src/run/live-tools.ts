import { described } from '../base/check-options.ts'
import { none } from '../base/none.ts'
import { LamellaError } from '../base/lamella-error.ts'
import type { RunToolsSnapshot } from '../contract/outcome.ts'
import type { RunTools, Tool, ToolDefinition } from '../contract/run.ts'
import type { LoopProgress } from './loop-progress.ts'

/**
 * The tools of one run. A list that it has returned never changes; a change makes a new one, in
 * which what became visible later comes last. While nothing changes it is the same list. Both keep
 * the prompt caches of providers warm.
 */
export class LiveTools implements RunTools {
  #executable: readonly ToolDefinition[]
  #visible: readonly ToolDefinition[]
  #offered: readonly ToolDefinition[] = []
  #withheld: Map<string, 'hidden' | 'deferred'> | undefined
  #returnDirect: Map<string, boolean> | undefined
  #edited: Map<string, 'added' | 'joined' | 'removed'> | undefined
  /** Progress of the run, which notes each edit. */
  progress: Pick<LoopProgress, 'noteEdit' | 'phase'> | undefined

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
    const isWhole = this.#withheld === undefined && this.#visible === this.#executable
    return isWhole ? this.#visible : this.#shown()
  }

  #shown(): readonly ToolDefinition[] {
    const before = this.#visible
    const shown = new Set(this.#executable.filter(({ name }) => !this.#withheld?.has(name)))
    const kept = before.filter((tool) => shown.has(tool))
    if (kept.length < before.length || kept.length < shown.size) {
      this.#visible = Object.freeze([...new Set([...kept, ...shown])])
    }
    return this.#visible
  }

  /**
   * The tools that a client is given: those that are shown, of which a search may name the deferred ones, and
   * where the provider searches for tools itself, also the deferred ones, marked for its search.
   */
  get offered(): readonly ToolDefinition[] {
    return this.#withheld === undefined ? this.visible : this.#withDeferred()
  }

  #withDeferred(): readonly ToolDefinition[] {
    const { visible, deferred } = this
    if (deferred.length === 0) return visible
    const sent = visible.some(searchesTools) ? deferred.map(marked) : none
    const all = [...visible.map((tool) => listing(tool, deferred)), ...sent]
    const isSame =
      all.length === this.#offered.length && all.every((tool, at) => tool === this.#offered[at])
    return isSame ? this.#offered : (this.#offered = Object.freeze(all))
  }

  get deferred(): readonly ToolDefinition[] {
    if (this.#withheld === undefined) return none
    const isDeferred = ({ name }: ToolDefinition): boolean =>
      this.#withheld?.get(name) === 'deferred'
    return Object.freeze(this.#executable.filter(isDeferred))
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
    this.progress?.noteEdit('run.tools.add()')
    const before = this.#executable
    const all = distinct([...before, ...tools])
    if (all.length === before.length) return
    this.#executable = all
    for (const { name } of all.slice(before.length)) this.#note(name, 'added')
  }

  remove(...tools: readonly (string | ToolDefinition)[]): void {
    this.progress?.noteEdit('run.tools.remove()')
    const gone = this.#executable.filter(
      (tool) => tools.includes(tool) || tools.includes(tool.name),
    )
    if (gone.length === 0) return
    this.#executable = Object.freeze(this.#executable.filter((tool) => !gone.includes(tool)))
    for (const { name } of gone) {
      this.#returnDirect?.delete(name)
      this.#note(name, 'removed')
    }
    this.#withhold(gone.map(nameOf))
  }

  #note(name: string, how: 'added' | 'removed'): void {
    const edited = (this.#edited ??= new Map())
    const isLate = how === 'added' && this.progress?.phase === 'looping'
    if (!edited.delete(name)) edited.set(name, isLate ? 'joined' : how)
  }

  /** Also holds for a tool of that name that is added later. */
  hide(...names: readonly string[]): void {
    this.progress?.noteEdit('run.tools.hide()')
    this.#withhold(names, 'hidden')
  }

  show(...names: readonly string[]): void {
    this.progress?.noteEdit('run.tools.show()')
    this.#withhold(names)
  }

  /** Also holds for a tool of that name that is added later. */
  defer(...names: readonly string[]): void {
    this.progress?.noteEdit('run.tools.defer()')
    this.#withhold(names, 'deferred')
  }

  setReturnDirect(name: string, value: boolean): void {
    this.progress?.noteEdit('run.tools.setReturnDirect()')
    this.#returnDirect = new Map(this.#returnDirect).set(name, value)
  }

  /** True if the result of some tool may be the answer of the run. */
  get mayReturnDirect(): boolean {
    return this.#returnDirect !== undefined || this.#executable.some(isDirect)
  }

  returnsDirect(name: string): boolean {
    const tool = this.get(name)
    return this.#returnDirect?.get(tool?.name ?? name) ?? isDirect(tool)
  }

  snapshot(): RunToolsSnapshot {
    return {
      visible: this.visible.map(nameOf),
      withheld: [...(this.#withheld ?? [])],
      returnDirect: [...(this.#returnDirect ?? [])],
      edited: [...(this.#edited ?? [])],
    }
  }

  /**
   * Takes a snapshot over. The tools themselves are not in it: `run` finds those that it had added. Others
   * that are missing are ignored, and what it does not show stays withheld.
   * @throws LamellaError `unknown_tool` if one that was added is not found
   */
  restore(
    { visible, withheld, returnDirect, edited = [] }: RunToolsSnapshot,
    run?: { findTool(name: string): ToolDefinition | undefined },
  ): void {
    for (const [name, how] of edited) {
      if (how === 'removed') this.remove(name)
      else this.add(this.get(name) ?? run?.findTool(name) ?? missingTool(name))
    }
    this.#edited = new Map(edited)
    this.#visible = Object.freeze(visible.flatMap((name) => this.get(name) ?? []))
    this.show(...visible)
    this.#withheld = new Map([...this.#withheld!, ...withheld])
    this.#returnDirect = new Map(returnDirect)
  }

  #withhold(names: readonly string[], how?: 'hidden' | 'deferred'): void {
    this.#withheld ??= new Map()
    for (const name of names) {
      if (how === undefined) this.#withheld.delete(name)
      else this.#withheld.set(name, how)
    }
  }
}

/** @throws LamellaError `unknown_tool` always */
export function missingTool(name: string): never {
  const problem = `the run needs its tool "${name}" to continue; pass it as \`tools\` or through \`findTool\``
  throw new LamellaError(problem, { code: 'unknown_tool' })
}

/** Lists that were found to be without repetition, as they were then. */
const checked = new WeakMap<readonly ToolDefinition[], readonly ToolDefinition[]>()

/**
 * Each tool once: the list itself where it has no repetition.
 * @throws LamellaError `tool_conflict` if two different tools have one name
 * @throws TypeError for an object that neither `tool()` nor `hostedTool()` made
 */
function distinct(tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
  if (tools.length === 0) return none
  const before = checked.get(tools)
  if (before?.length === tools.length && before.every((tool, at) => tool === tools[at]))
    return before
  const byName = new Map<string, ToolDefinition>()
  for (const tool of tools) {
    if (!isMade(tool)) {
      const name = (tool as { readonly name?: string } | undefined)?.name || 'without a name'
      throw new TypeError(
        `the tool ${name} is ${described(tool)}; pass tool({ name, description, parameters, execute })`,
      )
    }
    if ((byName.get(tool.name) ?? tool) !== tool) {
      const problem = `two different tools are named "${tool.name}"`
      throw new LamellaError(problem, { code: 'tool_conflict' })
    }
    byName.set(tool.name, tool)
  }
  // An edit in place would last beyond the run.
  const own = Object.freeze([...byName.values()])
  checked.set(tools, own)
  return own
}

/** Also a tool in the shape of a provider's request has a type, but no schema where ours have it. */
function isMade(tool: ToolDefinition): boolean {
  return tool?.type === 'function' ? 'jsonSchema' in tool : tool?.type === 'hosted'
}

/** A hosted tool of type `tool_search` (OpenAI), `tool_search_tool_bm25_20251119` (Anthropic) and the like. */
function searchesTools(tool: ToolDefinition): boolean {
  if (tool.type !== 'hosted') return false
  const { type = tool.name } = tool.definition
  return typeof type === 'string' && type.startsWith('tool_search')
}

const deferredCopies = new WeakMap<ToolDefinition, ToolDefinition>()

/** The same copy each time, for lists that stay the same while nothing changes. */
function marked(tool: ToolDefinition): ToolDefinition {
  if (tool.type === 'hosted') return tool
  let copy = deferredCopies.get(tool)
  if (copy === undefined) {
    copy = { ...tool, metadata: { ...tool.metadata, deferLoading: true } }
    deferredCopies.set(tool, copy)
  }
  return copy
}

/** The last copy of each search that lists what it can find. */
const listings = new WeakMap<ToolDefinition, Tool>()
const mostListed = 200

/** A search that lists deferred tools, with their names in its description. Any other tool as it is. */
function listing(tool: ToolDefinition, deferred: readonly ToolDefinition[]): ToolDefinition {
  if (tool.type === 'hosted' || tool.metadata?.['listsDeferred'] !== true) return tool
  const more = deferred.length > mostListed ? ` and ${deferred.length - mostListed} more` : ''
  const names = deferred.slice(0, mostListed).map(nameOf).join(', ')
  const description = `${tool.description} Not shown yet: ${names}${more}.`
  const before = listings.get(tool)
  if (before?.description === description) return before
  const copy = { ...tool, description }
  listings.set(tool, copy)
  return copy
}

function isDirect(tool: ToolDefinition | undefined): boolean {
  return tool?.type === 'function' && tool.returnDirect
}

function nameOf({ name }: ToolDefinition): string {
  return name
}
