import type { AgentContext } from '@lamella/core'
import type { MiddlewareOptions } from '@lamella/core/authoring'
import { checkOptions, middlewareRules, wrongOption } from '@lamella/core/authoring'
import type { McpEvent } from './base/mcp-event.ts'
import type { McpSamplingOptions } from './contents/sample.ts'

/** Options of `mcpTools`. */
export interface McpToolsOptions
  extends Pick<MiddlewareOptions<AgentContext, McpEvent>, 'when' | 'onEvent'> {
  /**
   * Your name for the server, in events and in the prefix of its tools: letters, digits, `_` and
   * `-`.
   * @default 'mcp'
   */
  readonly name?: string | undefined
  /**
   * Prefix of the names of its tools.
   * @default the name and `_`
   */
  readonly prefix?: string | undefined
  /**
   * Tools to offer, by the server's names for them, or a function of the name.
   * @default all
   */
  readonly tools?: readonly string[] | ((name: string) => boolean) | undefined
  /**
   * `annotations` trusts `readOnlyHint` and `idempotentHint` of the server, for tool policies,
   * caches and retries.
   * @default 'none'
   */
  readonly trust?: 'none' | 'annotations' | undefined
  /**
   * Fingerprints of tools, from `fingerprints()`. A tool with another fingerprint, or with none,
   * counts as changed.
   * @default those of the first list that this process reads
   */
  readonly pinned?: Readonly<Record<string, string>> | undefined
  /**
   * Action for a changed tool: `ask` requires approval of each call, `hide` does not offer it.
   * @default 'ask'
   */
  readonly onDrift?: 'ask' | 'hide' | undefined
  /**
   * Fails a run if the server is unreachable and no list of its tools was read yet. `false`
   * continues without its tools.
   * @default true
   */
  readonly required?: boolean | undefined
  /**
   * `ask` passes questions of the server to the caller, as `mcpElicitation`.
   * @default 'ask'
   */
  readonly elicitation?: 'ask' | 'decline' | undefined
  /**
   * Milliseconds that the caller has for an answer. They do not count toward the limits of the
   * call.
   * @default 300000
   */
  readonly elicitationTimeoutMs?: number | undefined
  /**
   * Allows the server to request model calls, with the client and the middleware of the agent.
   * @default not allowed
   */
  readonly sampling?: McpSamplingOptions | undefined
  /**
   * Milliseconds without a result or progress after which a call, or reading a list, fails.
   * @default 60000
   */
  readonly timeoutMs?: number | undefined
  /**
   * Milliseconds after which a call fails, regardless of progress.
   * @default 600000
   */
  readonly maxCallMs?: number | undefined
  /**
   * Time limit for connecting, in milliseconds.
   * @default 30000
   */
  readonly connectTimeoutMs?: number | undefined
  /**
   * Milliseconds after which a run reads the list of tools again. It also does so after a change
   * notice of the server.
   * @default 300000
   */
  readonly listTtlMs?: number | undefined
  /**
   * Maximum number of tools. Further tools are omitted.
   * @default 200
   */
  readonly maxTools?: number | undefined
  /**
   * Maximum size of a tool's schemas as JSON, in bytes. A tool with larger schemas is omitted.
   * @default 32768
   */
  readonly maxSchemaBytes?: number | undefined
  /**
   * Maximum length of a tool's description in characters. The rest is cut.
   * @default 2000
   */
  readonly maxDescriptionChars?: number | undefined
  /**
   * Maximum size of a result in bytes, files in base64 included. A call with a larger result fails.
   * @default 1000000
   */
  readonly maxResultBytes?: number | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkMcpToolsOptions(options: McpToolsOptions): void {
  const owner = 'mcpTools'
  checkOptions(owner, options, {
    name: 'string?',
    when: middlewareRules.when,
    onEvent: middlewareRules.onEvent,
    prefix: 'any',
    tools: 'any',
    trust: ['none', 'annotations'],
    pinned: 'any',
    onDrift: ['ask', 'hide'],
    required: [true, false],
    elicitation: ['ask', 'decline'],
    elicitationTimeoutMs: 'ms',
    sampling: { approval: ['ask', 'never'], maxTokens: 1, maxCalls: 1 },
    timeoutMs: 'ms',
    maxCallMs: 'ms',
    connectTimeoutMs: 'ms',
    listTtlMs: 1,
    maxTools: 1,
    maxSchemaBytes: 1,
    maxDescriptionChars: 1,
    maxResultBytes: 1,
  })
  const { name = 'mcp', prefix = '', tools } = options
  if (!/^[\w-]{1,40}$/.test(name)) {
    throw wrongOption(owner, 'name', '1 to 40 letters, digits, `_` or `-`', name)
  }
  if (typeof prefix !== 'string' || !/^[\w-]{0,41}$/.test(prefix)) {
    throw wrongOption(owner, 'prefix', 'at most 41 letters, digits, `_` or `-`', prefix)
  }
  if (tools !== undefined && typeof tools !== 'function' && !Array.isArray(tools)) {
    throw wrongOption(owner, 'tools', 'a list of names or a function', tools)
  }
}
