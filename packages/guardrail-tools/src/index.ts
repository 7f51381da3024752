export type { SealKey } from './approval-seal.ts'
export { ask, maxLength, oneOf, range, regex } from './argument-rule.ts'
export type { ArgumentRule } from './argument-rule.ts'
export { path } from './path-rule.ts'
export type { PathRuleOptions } from './path-rule.ts'
export { shell } from './shell-rule.ts'
export type { ShellRuleOptions } from './shell-rule.ts'
export { sql } from './sql-rule.ts'
export type { SqlRuleOptions } from './sql-rule.ts'
export { fingerprint, fingerprints } from './tool-fingerprint.ts'
export { toolPolicy } from './tool-policy.ts'
export type {
  ApprovalOptions,
  PolicyCall,
  PolicyDecision,
  ToolPolicyOptions,
} from './tool-policy-options.ts'
export { url } from './url-rule.ts'
export type { UrlRuleOptions } from './url-rule.ts'
