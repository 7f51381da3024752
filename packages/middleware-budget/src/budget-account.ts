import type { RunContext, Usage } from '@lamella/core'
import { addUsage, LamellaError } from '@lamella/core'
import type { Clock, InternalCallEvent } from '@lamella/core/authoring'
import type { BudgetCounter, BudgetEvent, BudgetLimits, BudgetShare } from './budget-options.ts'
import { counters } from './check-budget-options.ts'
import type { ModelName, Price } from './price-table.ts'
import { nameOf, unknownPrice } from './price-table.ts'
import type { Tally } from './tally.ts'

/** Expected or used amounts of a call, by counter. */
export type Amounts = Partial<Record<BudgetCounter, number>>

/** State of a budget that belongs to its run, as JSON: it goes into checkpoints. */
export interface Ledger {
  /** Sums of a budget that only this run shares, with reserved amounts. */
  readonly sums: Amounts
  /** Usage of the run that was counted. */
  readonly counted: Amounts
  /** Calls by tool. */
  perTool: readonly (readonly [string, number])[]
  /** Usage that was priced by its model, and its cost. */
  priced: Usage
  cost: number
  /** Estimated usage of calls whose provider reported none. */
  estimated?: Usage | undefined
  /** Time until the run paused. */
  elapsedMs: number
  /** Events that were reported already. */
  readonly told: string[]
}

export function emptyLedger(): Ledger {
  return { sums: {}, counted: {}, perTool: [], priced: {}, cost: 0, elapsedMs: 0, told: [] }
}

/** Settings of a `BudgetAccount`. */
export interface AccountOptions {
  readonly name: string
  readonly limits: BudgetLimits
  readonly thresholds: readonly number[]
  readonly clock: Clock
  readonly tally: Tally
  /** True to continue when the tally fails. */
  readonly isOpen: boolean
  readonly price: Price | undefined
  readonly ignoresUnknownPrices: boolean
  readonly report: (run: RunContext, event: BudgetEvent) => void
}

/** Account that a run and the runs inside it share. */
export class BudgetAccount {
  /** The outermost of the runs. */
  readonly run: RunContext
  readonly ledger: Ledger
  readonly #options: AccountOptions
  readonly #totals: Amounts = {}
  /** Amounts reserved for answers in progress, whose length is unknown. */
  #open: Amounts = {}
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

  /** Usage of each limit. */
  get shares(): readonly BudgetShare[] {
    return this.#sharesOf(this.#totals)
  }

  /** The limit with the largest share in use. */
  get fullest(): BudgetShare | undefined {
    const part = ({ spent, limit }: BudgetShare): number => (limit === 0 ? 1 : spent / limit)
    return this.shares.toSorted((a, b) => part(b) - part(a))[0]
  }

  /**
   * Reserves `amounts` if they fit, and resolves to `undefined`; otherwise resolves to the
   * exhausted limit. No limit of `relevant` may be exhausted already. `open` is the estimated part
   * of `amounts`: it may exceed a limit, and then keeps the next call from starting.
   * @throws LamellaError `price_unknown` if an earlier answer could not be charged
   */
  async reserve(
    relevant: readonly BudgetCounter[],
    amounts: Amounts,
    open: Amounts = {},
  ): Promise<BudgetShare | undefined> {
    if (this.#problem !== undefined) throw this.#problem
    this.#open = sum(this.#open, open)
    const totals = await this.#add(amounts)
    const over = this.#sharesOf(totals).find(({ counter, spent, limit }) => {
      const amount = amounts[counter] ?? 0
      const certain = spent - (open[counter] ?? 0)
      return relevant.includes(counter) && (certain > limit || spent - amount >= limit)
    })
    if (over === undefined) return undefined
    await this.settle(amounts, open)
    const spent = over.spent - (amounts[over.counter] ?? 0)
    return { ...over, spent, remaining: Math.max(0, over.limit - spent) }
  }

  /** Replaces a reservation with the actual usage. */
  async settle(reserved: Amounts = {}, open: Amounts = {}): Promise<void> {
    this.#open = sum(this.#open, negative(open))
    await this.#add(negative(reserved))
  }

  /** Counts the estimated usage of a call whose provider reported none. */
  chargeEstimate(usage: Usage, model: ModelName, asked: ModelName): void {
    this.ledger.estimated = addUsage(this.ledger.estimated ?? {}, usage)
    this.ledger.cost += this.#costOf(usage, model, asked) ?? 0
  }

  /** Counts a granted call, or with -1 removes it again. */
  count(counter: 'modelCalls' | 'toolCalls', by: 1 | -1 = 1): void {
    const { counted } = this.ledger
    counted[counter] = (counted[counter] ?? 0) + by
  }

  /** Returns the number of calls of a tool. */
  callsOf(tool: string): number {
    return this.ledger.perTool.find(([known]) => known === tool)?.[1] ?? 0
  }

  countTool(tool: string, by: 1 | -1 = 1): void {
    const others = this.ledger.perTool.filter(([known]) => known !== tool)
    this.ledger.perTool = [...others, [tool, this.callsOf(tool) + by]]
  }

  /**
   * Counts tokens at the price of the model that answered, or of the one that was `asked`. The answer is
   * there, so a missing price keeps only the next call from starting.
   */
  charge(usage: Usage, model: ModelName, asked?: ModelName): void {
    if (!Object.values(usage).some((count = 0) => count > 0)) return
    const cost = this.#costOf(usage, model, asked)
    if (cost === undefined) return
    this.ledger.priced = addUsage(this.ledger.priced, usage)
    this.ledger.cost += cost
  }

  /** Returns the cost of an answer. `undefined` without prices. */
  #costOf(usage: Usage, model: ModelName, asked: ModelName | undefined): number | undefined {
    const { price, name, ignoresUnknownPrices, report } = this.#options
    if (price === undefined) return undefined
    const own = price(usage, model)
    if (own !== undefined || ignoresUnknownPrices) return own ?? 0
    const assumed = asked && price(usage, asked)
    if (assumed === undefined) this.#problem ??= unknownPrice(name, model)
    if (this.tells(`price ${nameOf(model)}`)) {
      const status = assumed === undefined ? 'price_unknown' : 'price_assumed'
      report(this.run, { budget: name, status, model: nameOf(model) })
    }
    return assumed ?? 0
  }

  /** Throws if a model without a price is about to be called. */
  checkPrice(model: ModelName): void {
    const { price, name, ignoresUnknownPrices } = this.#options
    this.#model = model
    if (price === undefined || ignoresUnknownPrices || model.model === undefined) return
    if (price({ inputTokens: 1 }, model) === undefined) throw unknownPrice(name, model)
  }

  /** Counts a model call that a middleware makes for itself, once. */
  chargeInternal(call: InternalCallEvent): void {
    if (this.#seen.has(call)) return
    this.#seen.add(call)
    const { provider, model, requestedModel } = call
    this.charge(call.usage ?? {}, { provider, model }, { provider, model: requestedModel })
  }

  /** Stops the time when the run ends or pauses. */
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

  /** Returns true the first time that an event is reported. */
  tells(what: string): boolean {
    const { told } = this.ledger
    if (told.includes(what)) return false
    told.push(what)
    return true
  }

  #elapsed(): number {
    return this.ledger.elapsedMs + this.#options.clock.now() - this.#enteredAt
  }

  /** Returns the growth of tokens and time since the last count. */
  #growth(): Amounts {
    const { counted, priced, cost, estimated } = this.ledger
    const { usage } = this.run
    const { inputTokens = 0, outputTokens = 0, totalTokens = 0 } = addUsage(usage, estimated)
    const all = Math.max(totalTokens, inputTokens + outputTokens)
    // Usage without a price by its own model has the price of the model that was called last.
    const rest = { ...usage }
    for (const name in priced) rest[name] = Math.max(0, (rest[name] ?? 0) - (priced[name] ?? 0))
    const unknown = { provider: undefined, model: undefined }
    const costUsd = cost + (this.#options.price?.(rest, this.#model ?? unknown) ?? 0)
    const wallMs = Math.max(counted.wallMs ?? 0, this.#elapsed())
    const now = { inputTokens, outputTokens, totalTokens: all, costUsd, wallMs }
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

  /** Adds the growth and `amounts`, and resolves to the new sums. */
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
    Object.assign(this.#totals, sum(totals, negative(this.#open)))
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

function sum(left: Amounts, right: Amounts): Amounts {
  const both: Amounts = { ...left }
  for (const [counter, by] of Object.entries(right) as [BudgetCounter, number][]) {
    if (by !== 0) both[counter] = (both[counter] ?? 0) + by
  }
  return both
}

function negative(amounts: Amounts): Amounts {
  return Object.fromEntries(Object.entries(amounts).map(([counter, by]) => [counter, -by]))
}
