export { yourGuardrail } from './your-guardrail.ts'
export type { YourGuardrailOptions } from './your-guardrail.ts'
