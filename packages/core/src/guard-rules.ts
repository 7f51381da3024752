import type { OptionRules } from './check-options.ts'
import type { GuardrailOptions } from './guardrail.ts'
import { byStrictness } from './hold-back-gate.ts'

/** Rules of what guards hand on to `guardrail` as they were given it, for `checkOptions`. */
export const guardRules: OptionRules<
  Omit<GuardrailOptions, 'name' | 'check' | 'role' | 'applyTo' | 'stream' | 'maxRetries'>
> = {
  level: ['agent', 'chat'],
  messages: ['new', 'last-user', 'all'],
  roles: 'any',
  execution: ['serial', 'parallel'],
  mode: ['enforce', 'shadow', 'off'],
  when: 'function?',
  onError: ['closed', 'open'],
  unsupported: ['block', 'allow'],
  timeoutMs: 1,
  blockMessage: 'any',
  onEvent: 'function?',
  includeContent: 'any',
}

export const guardrailRules: OptionRules<GuardrailOptions> = {
  ...guardRules,
  name: 'string',
  check: 'function',
  role: 'any',
  applyTo: 'any',
  stream: { release: byStrictness, holdChars: 0, checkEveryChars: 1, pending: 'function?' },
  maxRetries: 0,
}

/** Of the options of a guard, those that `guardrail` takes. It throws at all others. */
export function guardrailOptions<Options extends object>(
  options: Options,
): Pick<Options, keyof Options & keyof GuardrailOptions> {
  const entries = Object.entries(options).filter(([name]) => Object.hasOwn(guardrailRules, name))
  return Object.fromEntries(entries) as Pick<Options, keyof Options & keyof GuardrailOptions>
}
