import type { FunctionInvocationContext, RunContext, Tool } from '@lamella/core'
import { LamellaError, tool } from '@lamella/core'
import { longestTimerMs, unlessAborted } from '@lamella/core/authoring'
import type { CallSetup } from './call-tool.ts'
import { callTool } from './call-tool.ts'
import { fitName } from '../base/fit-name.ts'
import { listPages } from '../connection/list-pages.ts'
import type { McpClient } from '../connection/mcp-client.ts'
import { hasCapability } from '../connection/mcp-client.ts'
import { never } from '../base/never.ts'
import type { DefinitionLimits, McpDefinition } from './read-definition.ts'
import { readDefinition } from './read-definition.ts'

/** Settings of a list of tools. */
export interface ListSetup extends CallSetup, DefinitionLimits {
  readonly prefix: string
  /** Chooses the tools that are offered, by the server's names for them. */
  readonly offers: (name: string) => boolean
  readonly isTrusted: boolean
  readonly pinned: Readonly<Record<string, string>> | undefined
  readonly onDrift: 'ask' | 'hide'
  readonly required: boolean
  readonly maxTools: number
  readonly listTtlMs: number
}

interface Entry {
  readonly definition: McpDefinition
  readonly isChanged: boolean
  readonly tool: Tool
}

/**
 * The tools of one server. The list is read again by the next run after a change notice, after a
 * reconnect, or when it is old. Tools do not change during a run.
 */
export class ToolList {
  readonly #setup: ListSetup
  readonly #pins: Map<string, string>
  #entries: readonly Entry[] | undefined
  #isStale = false
  #readAt = 0
  #loading: Promise<readonly Entry[]> | undefined

  constructor(setup: ListSetup) {
    this.#setup = setup
    this.#pins = new Map(Object.entries(setup.pinned ?? {}))
  }

  /** The next use reads the list again. */
  expire(): void {
    this.#isStale = true
  }

  /**
   * Resolves to the current tools; to those of the last list if the server is unreachable.
   * @throws LamellaError `mcp_unavailable` if there is no list yet and the server is required
   */
  async tools(signal: AbortSignal, run?: RunContext): Promise<readonly Tool[]> {
    return (await this.#current(signal, run)).map((entry) => entry.tool)
  }

  /** Fingerprints of all tools that are offered, by the server's names for them. */
  async fingerprints(signal: AbortSignal): Promise<Record<string, string>> {
    const entries = await this.#current(signal)
    return Object.fromEntries(
      entries.map(({ definition }) => [definition.name, definition.fingerprint]),
    )
  }

  async #current(signal: AbortSignal, run?: RunContext): Promise<readonly Entry[]> {
    const isOld = performance.now() - this.#readAt > this.#setup.listTtlMs
    if (this.#entries !== undefined && !this.#isStale && !isOld) return this.#entries
    try {
      this.#loading ??= this.#load(run).finally(() => {
        this.#loading = undefined
      })
      return await unlessAborted(signal, this.#loading)
    } catch (error) {
      signal.throwIfAborted()
      this.#setup.report({ status: 'unavailable', reason: 'its tools cannot be listed' }, run)
      if (this.#entries !== undefined) return this.#entries
      if (this.#setup.required) throw error
      return []
    }
  }

  async #load(run: RunContext | undefined): Promise<readonly Entry[]> {
    const { connection, server } = this.#setup
    this.#isStale = false
    try {
      // Several runs may wait for it, so it ends with none of them.
      const listed = await connection.use(never, true, (client) => this.#read(client, run))
      this.#entries = await this.#offered(listed, run)
      this.#readAt = performance.now()
      return this.#entries
    } catch (cause) {
      this.#isStale = true
      if (LamellaError.is(cause)) throw cause
      throw new LamellaError(`the MCP server "${server}" does not list its tools`, {
        code: 'mcp_unavailable',
        cause,
      })
    }
  }

  async #read(client: McpClient, run: RunContext | undefined): Promise<readonly unknown[]> {
    if (!hasCapability(client, 'tools')) return []
    const { maxTools, report, timeoutMs } = this.#setup
    const signal = AbortSignal.timeout(Math.min(Math.ceil(timeoutMs), longestTimerMs))
    const { entries, isWhole } = await listPages(client, 'tools', maxTools, { signal })
    if (!isWhole)
      report({ status: 'tool_left_out', reason: `it lists more than ${maxTools} tools` }, run)
    return entries
  }

  async #offered(
    listed: readonly unknown[],
    run: RunContext | undefined,
  ): Promise<readonly Entry[]> {
    const { offers, onDrift, pinned, report } = this.#setup
    const offered = new Map<string, Entry>()
    for (const [at, raw] of listed.entries()) {
      const leaveOut = (reason: string): void => {
        report({ status: 'tool_left_out', tool: `#${at}`, reason }, run)
      }
      try {
        const definition = await readDefinition(raw, this.#setup)
        const { fingerprint, name } = definition
        if (!offers(name)) continue
        // What comes after the first list has not been looked at, like what has changed.
        if (pinned === undefined && this.#entries === undefined) this.#pins.set(name, fingerprint)
        const isChanged = this.#pins.get(name) !== fingerprint
        const entry = await this.#entry(definition, isChanged)
        if (isChanged) report({ status: 'tool_changed', tool: entry.tool.name }, run)
        if (isChanged && onDrift === 'hide') continue
        if (offered.has(entry.tool.name)) leaveOut('another tool has its name')
        else offered.set(entry.tool.name, entry)
      } catch (error) {
        leaveOut(error instanceof RangeError ? error.message : 'it cannot be read')
      }
    }
    return [...offered.values()]
  }

  /**
   * The entry of the last list if nothing changed, so that prompt caches of providers stay valid.
   */
  async #entry(definition: McpDefinition, isChanged: boolean): Promise<Entry> {
    const known = this.#entries?.find(
      (entry) =>
        entry.isChanged === isChanged &&
        entry.definition.name === definition.name &&
        entry.definition.fingerprint === definition.fingerprint,
    )
    return known ?? { definition, isChanged, tool: await this.#tool(definition, isChanged) }
  }

  async #tool(definition: McpDefinition, isChanged: boolean): Promise<Tool> {
    const setup = this.#setup
    const { annotations, description, name, schema, title } = definition
    const { idempotentHint, readOnlyHint } = setup.isTrusted ? annotations : {}
    return tool({
      name: await fitName(setup.prefix, setup.server, name),
      description: description === '' ? (title ?? '') : description,
      parameters: schema.checked,
      jsonSchema: schema.shown,
      readOnly: readOnlyHint === true,
      idempotent: readOnlyHint === true || idempotentHint === true,
      approval: isChanged ? 'always' : 'never',
      metadata: { mcp: { server: setup.server, name, title, annotations, isChanged } },
      execute: (args: Record<string, unknown>, context: FunctionInvocationContext) =>
        callTool(setup, definition, args, context),
    })
  }
}
