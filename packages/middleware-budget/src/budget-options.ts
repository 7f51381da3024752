import type {
  AgentContext,
  ChatClient,
  ChatContext,
  ChatOptions,
  FunctionInvocationContext,
  KeyValueStore,
  RunContext,
  Usage,
} from '@lamella/core'
import type { Clock, LayerOptions } from '@lamella/core/authoring'
import type { ModelName, PriceTable } from './price-table.ts'

/** What a budget counts. */
export type BudgetCounter =
  | 'modelCalls'
  | 'toolCalls'
  | 'inputTokens'
  | 'outputTokens'
  | 'totalTokens'
  | 'costUsd'
  | 'wallMs'

/** What may be used up, and by how much. What is left out has no limit. */
export interface BudgetLimits extends Partial<Readonly<Record<BudgetCounter, number | undefined>>> {
  /** Calls of any one tool in a run, or of each that is named. */
  readonly toolCallsPerTool?: number | Readonly<Record<string, number>> | undefined
  /**
   * How often in a row a run may call one tool with the same arguments, or go through the same circle
   * of up to four calls. `false` allows it without end.
   * @default 3
   */
  readonly repeatedToolCalls?: number | false | undefined
}

/** What is used of a limit. */
export interface BudgetShare {
  readonly counter: BudgetCounter
  readonly spent: number
  readonly limit: number
  readonly remaining: number
}

/** What changes for model calls when a budget runs short. */
export interface BudgetDegradation {
  /**
   * The share of a limit that must be spent.
   * @default 0.8
   */
  readonly at?: number | undefined
  /** Laid over those of the call: a smaller model, `toolChoice: 'none'`, less `maxOutputTokens` … */
  readonly options?: ChatOptions | undefined
  /** In place of the call's own. */
  readonly client?: ChatClient | undefined
}

export interface BudgetOptions
  extends LayerOptions<AgentContext | ChatContext | FunctionInvocationContext, BudgetEvent> {
  /** @default repeated calls only */
  readonly limits?: BudgetLimits | undefined
  /**
   * What shares the budget: a run with the runs inside it, all runs of a session, of a tenant, or those
   * for which a function gives the same text.
   * @default 'run'
   */
  readonly scope?: 'run' | 'session' | 'tenant' | ((run: RunContext) => string) | undefined
  /**
   * How long the limits of a session, a tenant or a text hold until they begin anew: a day or a month
   * of UTC, or milliseconds.
   * @default they do not
   */
  readonly window?: 'day' | 'month' | number | undefined
  /**
   * Where is counted what more than a run shares.
   * @default in this process
   */
  readonly store?: KeyValueStore | undefined
  /**
   * What to do when the store fails: let the call fail, or go on without counting.
   * @default 'fail'
   */
  readonly onStoreError?: 'fail' | 'open' | undefined
  /**
   * Milliseconds to wait for the store's answer.
   * @default 2000
   */
  readonly storeTimeoutMs?: number | undefined
  /** What tokens cost, by model, or a function that says it. Needed for `costUsd` only. */
  readonly prices?:
    | PriceTable
    | ((usage: Usage, model: ModelName) => number | undefined)
    | undefined
  /**
   * Whether calls of a model without a price fail, or cost nothing.
   * @default 'error'
   */
  readonly onUnknownPrice?: 'error' | 'ignore' | undefined
  /**
   * The tokens to reserve for a model call.
   * @default an estimate of its input
   */
  readonly estimate?: ((context: ChatContext) => Usage) | undefined
  /**
   * Shares of the limits at which an event warns, once each.
   * @default [0.8]
   */
  readonly thresholds?: readonly number[] | undefined
  readonly degrade?: BudgetDegradation | undefined
  /**
   * Whether the model is told, from the first threshold on, that it should come to an end.
   * @default false
   */
  readonly note?: boolean | string | undefined
  /**
   * What a tool call comes to that is one too many: the run ends, or the model reads that the call was
   * refused, and the run goes on.
   * @default 'stop'
   */
  readonly onToolLimit?: 'stop' | 'refuse' | undefined
  /**
   * The last message of a run that ends.
   * @default none
   */
  readonly message?: string | ((spent: BudgetShare) => string) | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
}

/** What the event `budget` tells. It holds no text of the conversation. */
export type BudgetEvent =
  | {
      readonly budget: string
      /** `shadow`: the run would have ended, or the call been refused. */
      readonly status: 'warning' | 'degraded' | 'exhausted' | 'refused' | 'shadow'
      readonly counter: BudgetCounter | 'toolCallsPerTool' | 'repeatedToolCalls'
      readonly spent: number
      readonly limit: number
    }
  | {
      readonly budget: string
      /** At the end of a run that no other run started: what it has used. */
      readonly status: 'settled'
      readonly spent: Readonly<Record<BudgetCounter, number>>
    }
  | { readonly budget: string; readonly status: 'store_error' }
