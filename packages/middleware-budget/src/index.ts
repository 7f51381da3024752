export { budget } from './budget.ts'
export type {
  BudgetCounter,
  BudgetDegradation,
  BudgetEvent,
  BudgetLimits,
  BudgetOptions,
  BudgetShare,
} from './budget-options.ts'
export type { ModelName, PriceSource, PriceTable, TokenPrices } from './price-table.ts'
