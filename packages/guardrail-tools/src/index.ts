export { ask, maxLength, oneOf, range, regex } from './rules/argument-rule.ts'
export type { ArgumentRule } from './rules/argument-rule.ts'
export { path } from './rules/path-rule.ts'
export type { PathRuleOptions } from './rules/path-rule.ts'
export { shell } from './rules/shell-rule.ts'
export type { ShellRuleOptions } from './rules/shell-rule.ts'
export { sql } from './sql/sql-rule.ts'
export type { SqlRuleOptions } from './sql/sql-rule.ts'
export { fingerprint, fingerprints } from './policy/tool-fingerprint.ts'
export { toolPolicy } from './tool-policy.ts'
export type {
  ApprovalOptions,
  PolicyCall,
  PolicyDecision,
  SealKey,
  ToolPolicyEvent,
  ToolPolicyOptions,
} from './policy/tool-policy-options.ts'
export { url } from './rules/url-rule.ts'
export type { UrlRuleOptions } from './rules/url-rule.ts'
