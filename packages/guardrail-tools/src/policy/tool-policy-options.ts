import type { GuardrailOptions } from '@lamella/guardrail'
import type { KeyValueStore, RunContext, Tool } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { checkOptions, checkStore, wrongOption } from '@lamella/core/authoring'
import { guardrailCheckRules } from '@lamella/guardrail'
import type { ArgumentRule } from '../rules/argument-rule.ts'

/** Decision about a tool call. */
export type PolicyDecision =
  | 'allow'
  | 'deny'
  | 'ask'
  | {
      /** Runs, denies, or asks a person about the tool call; `rewrite` replaces its arguments. */
      readonly action: 'allow' | 'deny' | 'ask'
      /** Reason for the model, or for the person who is asked. @default none */
      readonly reason?: string | undefined
    }
  | {
      readonly action: 'rewrite'
      /** New arguments. They are judged like the model's. */
      readonly arguments: Readonly<Record<string, unknown>>
    }

/** A tool call that a policy judges. */
export interface PolicyCall {
  /** The tool. */
  readonly tool: Tool
  /** Id of the tool call. */
  readonly callId: string
  /** Arguments that the tool would get. */
  readonly arguments: Readonly<Record<string, unknown>>
}

/** Key for HMAC-SHA-256, with a name that tells several keys apart. */
export interface SealKey {
  /** Name of the key in a seal: letters, digits, `_` and `-`. */
  readonly id: string
  /** Secret of 16 bytes or more. */
  readonly key: string | Uint8Array
}

/** Options of approvals. */
export interface ApprovalOptions {
  /**
   * Lifetime of an approval in milliseconds, from the request.
   * @default 900000
   */
  readonly ttlMs?: number | undefined
  /** Keys that sign requests, so that exactly the requested call runs. The first one signs, all verify. @default none */
  readonly sign?: readonly SealKey[] | undefined
  /** Returns the owner of an approval besides the tenant, the principal and the conversation. @default none */
  readonly subject?: ((run: RunContext) => string) | undefined
  /**
   * Allows a person to edit arguments. They are judged like the model's.
   * @default true
   */
  readonly edit?: boolean | undefined
  /**
   * Store of the used approvals. Several processes need a shared one.
   * @default the agent's, otherwise this process
   */
  readonly store?: KeyValueStore | undefined
  /**
   * Milliseconds to wait for each answer of the store; then the run fails, and the tool does not run.
   * @default 2000
   */
  readonly storeTimeoutMs?: number | undefined
}

type Common = 'mode' | 'when' | 'onError' | 'timeoutMs' | 'blockMessage' | 'onEvent'

/** Options of {@link toolPolicy}. */
export interface ToolPolicyOptions extends Pick<GuardrailOptions, Common> {
  /** Name, unique in a pipeline. @default 'tool-policy' */
  readonly name?: string | undefined
  /** Names or globs of tools that are never called. Overrides the other lists. @default none */
  readonly deny?: readonly string[] | undefined
  /** Names or globs of tools that a person has to approve each time. @default none */
  readonly ask?: readonly string[] | undefined
  /** Names or globs of tools that may be called, within the rules. @default none */
  readonly allow?: readonly string[] | undefined
  /**
   * Action for tools that no list names. `by-effect` allows `readOnly` tools and asks about all others.
   * @default 'deny' with `allow`, otherwise 'by-effect'
   */
  readonly unlisted?: 'allow' | 'ask' | 'deny' | 'by-effect' | undefined
  /** Rules by name or glob of tools, and then by argument: `{ 'files_*': { path: path({ roots }) } }`. @default none */
  readonly rules?:
    | Readonly<Record<string, Readonly<Record<string, ArgumentRule | readonly ArgumentRule[]>>>>
    | undefined
  /** Judges tool calls that lists and rules allow. May be called more than once for a tool call. @default none */
  readonly policy?:
    | ((
        call: PolicyCall,
        run: RunContext,
      ) => PolicyDecision | undefined | Promise<PolicyDecision | undefined>)
    | undefined
  /**
   * Tells the model about a denied tool call in its result, or ends the run as blocked.
   * @default 'reject'
   */
  readonly onDeny?: 'reject' | 'block' | undefined
  /**
   * The same for calls of unknown tools.
   * @default 'reject'
   */
  readonly unknownTool?: 'reject' | 'block' | undefined
  /**
   * Denies, removes, or leaves to the schema arguments that the tool does not describe.
   * @default 'reject'
   */
  readonly unknownArguments?: 'reject' | 'strip' | 'allow' | undefined
  /**
   * Maximum number of calls of a tool with the same arguments in one run.
   * @default 3
   */
  readonly repeatLimit?: number | undefined
  /** Maximum number of calls in one run, by name or glob of tools. @default no limit */
  readonly maxCalls?: Readonly<Record<string, number>> | undefined
  /** Options of approvals. @default the defaults of `ApprovalOptions` */
  readonly approval?: ApprovalOptions | undefined
  /** Fingerprints of tools by name, from `fingerprints()`. @default none */
  readonly pinned?: Readonly<Record<string, string>> | undefined
  /**
   * Action for a pinned tool whose definition has changed. `deny` also hides it from the model.
   * @default 'deny'
   */
  readonly onDrift?: 'deny' | 'ask' | undefined
  /**
   * Fails a run whose tools lack one that the options name, before its first model call. Off, an event and
   * `explain()` report it.
   * @default false
   */
  readonly strict?: boolean | undefined
  /** Clock for the expiry of approvals. @default the run's */
  readonly clock?: Pick<Clock, 'now'> | undefined
}

/** Data of the run event `tool_policy`. */
export interface ToolPolicyEvent {
  /** Name of the policy. */
  readonly policy: string
  /** The option names a tool that the run does not have. */
  readonly status: 'unmatched'
  /** Name of the option. */
  readonly option: 'allow' | 'ask' | 'deny' | 'rules' | 'maxCalls' | 'pinned'
  /** Name or glob as the option has it. */
  readonly tool: string
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkToolPolicy(options: ToolPolicyOptions): void {
  const owner = 'toolPolicy'
  checkOptions(owner, options, {
    name: 'string?',
    mode: guardrailCheckRules.mode,
    when: guardrailCheckRules.when,
    onError: guardrailCheckRules.onError,
    timeoutMs: guardrailCheckRules.timeoutMs,
    blockMessage: guardrailCheckRules.blockMessage,
    onEvent: guardrailCheckRules.onEvent,
    deny: 'any',
    ask: 'any',
    allow: 'any',
    unlisted: ['allow', 'ask', 'deny', 'by-effect'],
    rules: 'any',
    policy: 'function?',
    onDeny: ['reject', 'block'],
    unknownTool: ['reject', 'block'],
    unknownArguments: ['reject', 'strip', 'allow'],
    repeatLimit: 1,
    maxCalls: 'any',
    approval: {
      ttlMs: 1,
      sign: 'any',
      subject: 'function?',
      edit: 'any',
      store: 'any',
      storeTimeoutMs: 'ms',
    },
    pinned: 'any',
    onDrift: ['deny', 'ask'],
    strict: [true, false],
    clock: 'any',
  })
  for (const [glob, max] of Object.entries(options.maxCalls ?? {})) {
    if (!(Number.isInteger(max) && max >= 0)) {
      throw wrongOption(owner, `maxCalls.${glob}`, 'a whole number from 0 up', max)
    }
  }
  for (const [glob, rules] of Object.entries(options.rules ?? {})) {
    for (const [path, rule] of Object.entries(rules)) {
      const isRule = [rule].flat().every((one) => typeof one?.check === 'function')
      if (!isRule) throw wrongOption(owner, `rules.${glob}.${path}`, 'a rule', rule)
    }
  }
  for (const list of ['allow', 'deny', 'ask'] as const) {
    const names = options[list] ?? []
    if (!Array.isArray(names)) throw wrongOption(owner, list, 'a list of names', names)
  }
  const { sign: keys, store } = options.approval ?? {}
  if (store !== undefined) checkStore(owner, store, [], 'approval.store')
  if (keys?.length === 0) throw wrongOption(owner, 'approval.sign', 'at least one key', keys)
  for (const { id, key } of keys ?? []) {
    if (!/^[\w-]+$/.test(id)) throw wrongOption(owner, 'approval.sign', 'keys with plain ids', id)
    // The key itself never reaches a message.
    if (key.length < 16) throw wrongOption(owner, 'approval.sign', 'keys of 16 bytes or more', id)
  }
}
