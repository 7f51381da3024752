export type { ModelFacts, ModelName, ModelPrices, ModelRates } from './model-facts.ts'
export type { Models, OwnModels } from './models.ts'
export { modelFacts, models } from './models.ts'
