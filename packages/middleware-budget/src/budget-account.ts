import type { RunContext, Usage } from '@lamella/core'
import { addUsage, LamellaError } from '@lamella/core'
import type { Clock, InternalCallEvent } from '@lamella/core/authoring'
import type { BudgetCounter, BudgetEvent, BudgetLimits, BudgetShare } from './budget-options.ts'
import { counters } from './check-budget-options.ts'
import type { ModelName, Price } from './price-table.ts'
import { unknownPrice } from './price-table.ts'
import type { Tally } from './tally.ts'

/** What a call is expected to take, by counter. */
export type Amounts = Partial<Record<BudgetCounter, number>>

/** What of a budget is kept with its run, as JSON: it goes into checkpoints. */
export interface Ledger {
  /** What shares the budget with nothing but this run has used; with what calls have reserved. */
  readonly sums: Amounts
  /** What the run has used, as far as it was counted. */
  readonly counted: Amounts
  /** Calls by tool. */
  perTool: readonly (readonly [string, number])[]
  /** What is priced by its model, and what it cost. */
  priced: Usage
  cost: number
  /** Time until the run paused. */
  elapsedMs: number
  /** What was told already. */
  readonly told: string[]
}

export function emptyLedger(): Ledger {
  return { sums: {}, counted: {}, perTool: [], priced: {}, cost: 0, elapsedMs: 0, told: [] }
}

export interface AccountOptions {
  readonly name: string
  readonly limits: BudgetLimits
  readonly thresholds: readonly number[]
  readonly clock: Clock
  readonly tally: Tally
  /** Whether to go on when the tally fails. */
  readonly isOpen: boolean
  readonly price: Price | undefined
  readonly ignoresUnknownPrices: boolean
  readonly report: (run: RunContext, event: BudgetEvent) => void
}

/** What a run and the runs inside it share of a budget. */
export class BudgetAccount {
  /** The outermost of the runs. */
  readonly run: RunContext
  readonly ledger: Ledger
  readonly #options: AccountOptions
  readonly #totals: Amounts = {}
  readonly #seen = new WeakSet<InternalCallEvent>()
  #enteredAt: number
  #model: ModelName | undefined
  #problem: LamellaError | undefined

  constructor(run: RunContext, ledger: Ledger, options: AccountOptions) {
    this.run = run
    this.ledger = ledger
    this.#options = options
    this.#enteredAt = options.clock.now()
  }

  /** What is used of each limit. */
  get shares(): readonly BudgetShare[] {
    return this.#sharesOf(this.#totals)
  }

  /** The largest part of any limit that is used. */
  get fullest(): BudgetShare | undefined {
    const part = ({ spent, limit }: BudgetShare): number => (limit === 0 ? 1 : spent / limit)
    return this.shares.toSorted((a, b) => part(b) - part(a))[0]
  }

  /**
   * Takes `amounts` if they fit, and resolves to `undefined`; otherwise to what is used up. Of
   * `relevant`, nothing may be used up already.
   */
  async reserve(
    relevant: readonly BudgetCounter[],
    amounts: Amounts,
  ): Promise<BudgetShare | undefined> {
    this.throwProblem()
    const totals = await this.#add(amounts)
    const over = this.#sharesOf(totals).find(({ counter, spent, limit }) => {
      const amount = amounts[counter] ?? 0
      return relevant.includes(counter) && (spent > limit || spent - amount >= limit)
    })
    if (over === undefined) return undefined
    await this.#add(negative(amounts))
    const spent = over.spent - (amounts[over.counter] ?? 0)
    return { ...over, spent, remaining: Math.max(0, over.limit - spent) }
  }

  /** Replaces what was reserved by what was used. */
  async settle(reserved: Amounts = {}): Promise<void> {
    await this.#add(negative(reserved))
  }

  /** Counts a call that was granted, or with -1 takes it back. */
  count(counter: 'modelCalls' | 'toolCalls', by: 1 | -1 = 1): void {
    const { counted } = this.ledger
    counted[counter] = (counted[counter] ?? 0) + by
  }

  /** How often a tool was called. */
  callsOf(tool: string): number {
    return this.ledger.perTool.find(([known]) => known === tool)?.[1] ?? 0
  }

  countTool(tool: string, by: 1 | -1 = 1): void {
    const others = this.ledger.perTool.filter(([known]) => known !== tool)
    this.ledger.perTool = [...others, [tool, this.callsOf(tool) + by]]
  }

  /**
   * Counts tokens at the price of the model that they are of. That there is none is thrown later, by
   * `throwProblem`: what has been used is to be counted first.
   */
  charge(usage: Usage, model: ModelName): void {
    const { price, name, ignoresUnknownPrices } = this.#options
    if (price === undefined || !Object.values(usage).some((count = 0) => count > 0)) return
    const cost = price(usage, model)
    if (cost === undefined && !ignoresUnknownPrices) this.#problem ??= unknownPrice(name, model)
    this.ledger.priced = addUsage(this.ledger.priced, usage)
    this.ledger.cost += cost ?? 0
  }

  /** @throws LamellaError `price_unknown` if something could not be charged */
  throwProblem(): void {
    if (this.#problem !== undefined) throw this.#problem
  }

  /** Sees to it that a model has a price before it is called. */
  checkPrice(model: ModelName): void {
    const { price, name, ignoresUnknownPrices } = this.#options
    this.#model = model
    if (price === undefined || ignoresUnknownPrices || model.model === undefined) return
    if (price({ inputTokens: 1 }, model) === undefined) throw unknownPrice(name, model)
  }

  /** Counts a call that a layer makes for itself, once. */
  chargeInternal(call: InternalCallEvent): void {
    if (this.#seen.has(call)) return
    this.#seen.add(call)
    this.charge(call.usage ?? {}, call)
  }

  /** The run ends, or pauses: time stands still. */
  async leave(): Promise<void> {
    this.ledger.elapsedMs = this.#elapsed()
    this.#enteredAt = this.#options.clock.now()
    const { name, report } = this.#options
    await this.settle().catch(() => {})
    const spent = Object.fromEntries(
      counters.map((counter) => [counter, this.ledger.counted[counter] ?? 0]),
    ) as Record<BudgetCounter, number>
    report(this.run, { budget: name, status: 'settled', spent })
  }

  /** Whether something is told for the first time. */
  tells(what: string): boolean {
    const { told } = this.ledger
    if (told.includes(what)) return false
    told.push(what)
    return true
  }

  #elapsed(): number {
    return this.ledger.elapsedMs + this.#options.clock.now() - this.#enteredAt
  }

  /** What tokens and time have come to since they were counted last. */
  #growth(): Amounts {
    const { counted, priced, cost } = this.ledger
    const { usage } = this.run
    const { inputTokens = 0, outputTokens = 0 } = usage
    const { totalTokens = inputTokens + outputTokens } = usage
    // What is not priced by its model yet is priced by the one that was called last.
    const rest = { ...usage }
    for (const name in priced) rest[name] = Math.max(0, (rest[name] ?? 0) - (priced[name] ?? 0))
    const unknown = { provider: undefined, model: undefined }
    const costUsd = cost + (this.#options.price?.(rest, this.#model ?? unknown) ?? 0)
    const now = { inputTokens, outputTokens, totalTokens, costUsd, wallMs: this.#elapsed() }
    const growth: Amounts = {}
    for (const counter of Object.keys(now) as (keyof typeof now)[]) {
      growth[counter] = now[counter] - (counted[counter] ?? 0)
      counted[counter] = now[counter]
    }
    return growth
  }

  #sharesOf(totals: Amounts): readonly BudgetShare[] {
    return counters.flatMap((counter) => {
      const limit = this.#options.limits[counter]
      if (limit === undefined) return []
      const spent = totals[counter] ?? 0
      return [{ counter, spent, limit, remaining: Math.max(0, limit - spent) }]
    })
  }

  /** Adds what has been used since the last time, and `amounts`. Resolves to the sums then. */
  async #add(amounts: Amounts): Promise<Amounts> {
    const { limits, tally, isOpen, name, report } = this.#options
    const growth = this.#growth()
    const totals: Amounts = {}
    for (const counter of counters) {
      if (limits[counter] === undefined) continue
      const by = (growth[counter] ?? 0) + (amounts[counter] ?? 0)
      try {
        // oxlint-disable-next-line no-await-in-loop
        totals[counter] = await tally.add(counter, by)
      } catch (error) {
        report(this.run, { budget: name, status: 'store_error' })
        if (!isOpen) {
          throw new LamellaError(`${name}: the store failed`, {
            code: 'store_failed',
            cause: error,
          })
        }
        totals[counter] = (this.#totals[counter] ?? 0) + by
      }
    }
    Object.assign(this.#totals, totals)
    this.#warn()
    return totals
  }

  #warn(): void {
    const { thresholds, name, report } = this.#options
    for (const { counter, spent, limit } of this.shares) {
      for (const threshold of thresholds) {
        if (spent < limit * threshold || !this.tells(`${counter} ${threshold}`)) continue
        report(this.run, { budget: name, status: 'warning', counter, spent, limit })
      }
    }
  }
}

function negative(amounts: Amounts): Amounts {
  return Object.fromEntries(Object.entries(amounts).map(([counter, by]) => [counter, -by]))
}
