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
import type { Clock, MiddlewareOptions } from '@lamella/core/authoring'
import type { ModelName, PriceSource, PriceTable } from './price-table.ts'

/** Quantity that a budget counts. */
export type BudgetCounter =
  | 'modelCalls'
  | 'toolCalls'
  | 'inputTokens'
  | 'outputTokens'
  | 'totalTokens'
  | 'costUsd'
  | 'wallMs'

/** Limits of a budget. A counter without a limit is unlimited. */
export interface BudgetLimits extends Partial<Readonly<Record<BudgetCounter, number | undefined>>> {
  /** Calls of any one tool in a run, or of each tool that is named. */
  readonly toolCallsPerTool?: number | Readonly<Record<string, number>> | undefined
  /**
   * Number of times in a row that a run may repeat one tool call with the same arguments, or one cycle
   * of up to four calls. `false` removes the limit.
   * @default 3
   */
  readonly repeatedToolCalls?: number | false | undefined
}

/** Usage of one limit. */
export interface BudgetShare {
  /** Quantity that is counted. */
  readonly counter: BudgetCounter
  /** Amount used. */
  readonly spent: number
  /** Maximum of the limit. */
  readonly limit: number
  /** Amount left. */
  readonly remaining: number
}

/** Changes to model calls when a budget runs low. */
export interface BudgetDegradation {
  /**
   * Share of a limit that must be used, above 0 up to 1.
   * @default 0.8
   */
  readonly at?: number | undefined
  /**
   * Options merged over those of the call: a smaller model, `toolChoice: 'none'`, fewer
   * `maxOutputTokens` and so on.
   */
  readonly options?: ChatOptions | undefined
  /** Client that overrides the one of the call. */
  readonly client?: ChatClient | undefined
}

/** Options of `budget`. */
export interface BudgetOptions
  extends MiddlewareOptions<AgentContext | ChatContext | FunctionInvocationContext, BudgetEvent> {
  /**
   * Limits of the budget.
   * @default repeated calls only
   */
  readonly limits?: BudgetLimits | undefined
  /**
   * Group of runs that shares the budget: a run with its inner runs, all runs of a session, of a tenant,
   * or those for which a function returns the same text.
   * @default 'run'
   */
  readonly scope?: 'run' | 'session' | 'tenant' | ((run: RunContext) => string) | undefined
  /**
   * Period after which the limits of a session, a tenant or a text reset: a day or a month of UTC, or
   * milliseconds.
   * @default never
   */
  readonly window?: 'day' | 'month' | number | undefined
  /**
   * Store of the counts that more than one run shares, with `increment`.
   * @default the agent's, otherwise this process
   */
  readonly store?: KeyValueStore | undefined
  /**
   * Behavior when the store fails: fail the call, or continue without counting.
   * @default 'fail'
   */
  readonly onStoreError?: 'fail' | 'open' | undefined
  /**
   * Time limit for the store in milliseconds.
   * @default 2000
   */
  readonly storeTimeoutMs?: number | undefined
  /**
   * Prices of tokens by model, a source of prices such as `models` of `@lamella/models`, or a function
   * that returns the cost. Required for `costUsd` only.
   */
  readonly prices?:
    | PriceTable
    | PriceSource
    | ((usage: Usage, model: ModelName) => number | undefined)
    | undefined
  /**
   * Behavior for a model without a price: do not call it, or count no cost. An answer that names another
   * model than the requested one has the requested one's price.
   * @default 'error'
   */
  readonly onUnknownPrice?: 'error' | 'ignore' | undefined
  /**
   * The tokens to reserve for a model call.
   * @default an estimate of its input, and `maxOutputTokens` or the longest answer so far
   */
  readonly estimate?: ((context: ChatContext) => Usage) | undefined
  /**
   * Shares of the limits at which an event warns, once each.
   * @default [0.8]
   */
  readonly thresholds?: readonly number[] | undefined
  /**
   * Changes to model calls when the budget runs low.
   * @default none
   */
  readonly degrade?: BudgetDegradation | undefined
  /**
   * Tells the model to finish soon, from the first threshold on.
   * @default false
   */
  readonly note?: boolean | string | undefined
  /**
   * Behavior for a tool call above the limit: end the run, or return an error to the model and continue.
   * @default 'stop'
   */
  readonly onToolLimit?: 'stop' | 'refuse' | undefined
  /**
   * Last message of a run that ends.
   * @default none
   */
  readonly message?: string | ((spent: BudgetShare) => string) | undefined
  /**
   * Source of time.
   * @default the run's clock
   */
  readonly clock?: Clock | undefined
}

/** Data of the run event `budget`. It holds no text of the conversation. */
export type BudgetEvent =
  | {
      /** Name of the middleware. */
      readonly budget: string
      /** `shadow`: in shadow mode, the run would have ended or the call been rejected. */
      readonly status: 'warning' | 'degraded' | 'exhausted' | 'refused' | 'shadow'
      /** Limit in question. */
      readonly counter: BudgetCounter | 'toolCallsPerTool' | 'repeatedToolCalls'
      /** Amount used. */
      readonly spent: number
      /** Maximum of the limit. */
      readonly limit: number
    }
  | {
      /** Name of the middleware. */
      readonly budget: string
      /** At the end of a run that no other run started. */
      readonly status: 'settled'
      /** Amounts that the run used. */
      readonly spent: Readonly<Record<BudgetCounter, number>>
    }
  | {
      /** Name of the middleware. */
      readonly budget: string
      readonly status: 'store_error'
    }
  | {
      /** Name of the middleware. */
      readonly budget: string
      /**
       * An answer names a model without a price. `price_assumed`: it counted at the price of the requested
       * model. `price_unknown`: that has none either, so no further call is made.
       */
      readonly status: 'price_assumed' | 'price_unknown'
      /** Provider and model of the answer. */
      readonly model: string
    }
