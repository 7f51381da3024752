import type { GuardrailOptions, KeyValueStore, RunContext, Tool } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { checkOptions, guardrailCheckRules, wrongOption } from '@lamella/core/authoring'
import type { ArgumentRule } from '../rules/argument-rule.ts'

/** What is to happen with a call. `reason` is for the model, or for the person who is asked. */
export type PolicyDecision =
  | 'allow'
  | 'deny'
  | 'ask'
  | { readonly action: 'allow' | 'deny' | 'ask'; readonly reason?: string | undefined }
  | { readonly action: 'rewrite'; readonly arguments: Readonly<Record<string, unknown>> }

/** A call that a policy decides about. */
export interface PolicyCall {
  readonly tool: Tool
  readonly callId: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** Key for HMAC-SHA-256, and the name by which it is found when there are several. */
export interface SealKey {
  /** Name of the key in a seal: letters, digits, `_` and `-`. */
  readonly id: string
  /** Secret of 16 bytes or more. */
  readonly key: string | Uint8Array
}

/** Options of approvals. */
export interface ApprovalOptions {
  /**
   * Milliseconds for which an approval may be used, from the request on.
   * @default 900000
   */
  readonly ttlMs?: number | undefined
  /** Keys that sign requests, so that what runs is what was asked for. The first one signs, all verify. */
  readonly sign?: readonly SealKey[] | undefined
  /** To whom an approval is bound besides the conversation, such as a user. */
  readonly subject?: ((run: RunContext) => string) | undefined
  /**
   * Whether a person may edit arguments. They are judged as the model's own are.
   * @default true
   */
  readonly edit?: boolean | undefined
  /**
   * Store of the approvals that were used. For several processes, one that they share.
   * @default the agent's, otherwise this process
   */
  readonly store?: KeyValueStore | undefined
}

type Common = 'mode' | 'when' | 'onError' | 'timeoutMs' | 'blockMessage' | 'onEvent'

export interface ToolPolicyOptions extends Pick<GuardrailOptions, Common> {
  /** @default 'tool-policy' */
  readonly name?: string | undefined
  /** Names or globs of tools that are never called. Comes before all others. */
  readonly deny?: readonly string[] | undefined
  /** Names or globs of tools that a person must allow each time. */
  readonly ask?: readonly string[] | undefined
  /** Names or globs of tools that may be called, within the rules. */
  readonly allow?: readonly string[] | undefined
  /**
   * What becomes of tools that no list names. `by-effect` allows those that are `readOnly` and asks for
   * all others.
   * @default 'deny' with `allow`, otherwise 'by-effect'
   */
  readonly unlisted?: 'allow' | 'ask' | 'deny' | 'by-effect' | undefined
  /** By name or glob of tools, and then by argument: `{ 'files_*': { path: path({ roots }) } }`. */
  readonly rules?:
    | Readonly<Record<string, Readonly<Record<string, ArgumentRule | readonly ArgumentRule[]>>>>
    | undefined
  /** Decides about what lists and rules let through. May be asked more than once for a call. */
  readonly policy?:
    | ((
        call: PolicyCall,
        run: RunContext,
      ) => PolicyDecision | undefined | Promise<PolicyDecision | undefined>)
    | undefined
  /**
   * Whether a denied call is a result that the model reads, or ends the run.
   * @default 'reject'
   */
  readonly onDeny?: 'reject' | 'block' | undefined
  /**
   * The same for calls of tools that there are none of.
   * @default 'reject'
   */
  readonly unknownTool?: 'reject' | 'block' | undefined
  /**
   * Whether arguments that the tool does not describe are denied, taken out, or left to its schema.
   * @default 'reject'
   */
  readonly unknownArguments?: 'reject' | 'strip' | 'allow' | undefined
  /**
   * How often a run may call a tool with the same arguments.
   * @default 3
   */
  readonly repeatLimit?: number | undefined
  /** How often a run may call tools, by name or glob. */
  readonly maxCalls?: Readonly<Record<string, number>> | undefined
  readonly approval?: ApprovalOptions | undefined
  /** Fingerprints of tools by name, from `fingerprints()`. */
  readonly pinned?: Readonly<Record<string, string>> | undefined
  /**
   * What becomes of a pinned tool whose definition is another one. With `deny` the model is not shown it.
   * @default 'deny'
   */
  readonly onDrift?: 'deny' | 'ask' | undefined
  /** Tells when approvals expire. @default the machine's */
  readonly clock?: Pick<Clock, 'now'> | undefined
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
    approval: { ttlMs: 1, sign: 'any', subject: 'function?', edit: 'any', store: 'any' },
    pinned: 'any',
    onDrift: ['deny', 'ask'],
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
  const keys = options.approval?.sign
  if (keys?.length === 0) throw wrongOption(owner, 'approval.sign', 'at least one key', keys)
  for (const { id, key } of keys ?? []) {
    if (!/^[\w-]+$/.test(id)) throw wrongOption(owner, 'approval.sign', 'keys with plain ids', id)
    // The key itself is not for messages.
    if (key.length < 16) throw wrongOption(owner, 'approval.sign', 'keys of 16 bytes or more', id)
  }
}
