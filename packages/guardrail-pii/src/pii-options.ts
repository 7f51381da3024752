import type { GuardrailCheckOptions, GuardrailStage, ReleasePolicy } from '@lamella/guardrail'
import type { Role } from '@lamella/core'
import { checkOptions, checkStore, wrongOption } from '@lamella/core/authoring'
import { guardrailCheckRules } from '@lamella/guardrail'
import type { DetectPii } from './find/detector.ts'
import type { FindPiiOptions } from './find/find-pii.ts'
import { byKind, findRules } from './find/find-pii.ts'
import type { HashOptions, MaskOptions, Strategy } from './replace/strategy.ts'
import { strategies } from './replace/strategy.ts'
import type { VaultOptions } from './replace/vault-options.ts'

/** Options of {@link pii}. */
export interface PiiOptions<
  Vault extends VaultOptions | boolean | undefined = VaultOptions | boolean,
> extends FindPiiOptions,
    Omit<GuardrailCheckOptions, 'name' | 'check'> {
  /** Name, unique in a pipeline. @default 'pii' */
  readonly name?: string | undefined
  /**
   * Treatment of finds, for all or by kind and group; `default` applies to the others.
   * @default 'redact', with `vault` 'vault'; secrets in arguments are blocked
   */
  readonly strategy?: Strategy | Readonly<Record<string, Strategy>> | undefined
  /** Kinds of content that are checked. @default ['input', 'output', 'arguments', 'result'] */
  readonly applyTo?: readonly Exclude<GuardrailStage, 'file'>[] | undefined
  /** Roles whose messages are input. @default ['user', 'assistant', 'tool'] */
  readonly roles?: readonly Exclude<Role, 'system'>[] | undefined
  /**
   * Text of an answer that may pass before everything is checked.
   * @default 'window', with `detect` 'full'
   */
  readonly release?: ReleasePolicy | undefined
  /** Key of `hash` and `pseudonymize`, at least 16 characters. Required for them. */
  readonly key?: string | undefined
  /** Options of `hash`. @default { length: 16, tenant: '' } */
  readonly hash?: HashOptions | undefined
  /** Options of `mask`. @default { keepLast: 4, char: '*', preserveFormat: true } */
  readonly mask?: MaskOptions | undefined
  /**
   * Keeps values in a vault: the model reads placeholders, which are restored later.
   * @default false
   */
  readonly vault?: Vault | undefined
  /**
   * Creates the placeholder of the vault's next value of a kind, counted from 1.
   * @default (kind, count) => `<EMAIL_1>`
   */
  readonly placeholder?: ((kind: string, count: number) => string) | undefined
  /**
   * Finds further data in every text, such as by a service; several are asked at once.
   * @default none
   */
  readonly detect?: DetectPii | readonly DetectPii[] | undefined
}

/** Returns the strategy of a kind at a stage. */
export type StrategyOf = (kind: string, stage: GuardrailStage) => Strategy

/** @throws TypeError or RangeError that names the option and the value */
export function strategyOf({ strategy, vault }: PiiOptions): StrategyOf {
  const usual = vault ? 'vault' : 'redact'
  if (typeof strategy === 'string') return () => strategy
  const kinds = byKind(strategy ?? {})
  return (kind, stage) => {
    if (kinds[kind]) return kinds[kind]
    if (kind === 'secret' && stage === 'arguments' && !kinds['default']) return 'block'
    return kinds['default'] ?? usual
  }
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkPiiOptions(options: PiiOptions): void {
  const { strategy = {}, applyTo = [], key, vault } = options ?? {}
  checkOptions('pii', options, {
    ...findRules,
    mode: guardrailCheckRules.mode,
    when: guardrailCheckRules.when,
    onError: guardrailCheckRules.onError,
    unsupported: guardrailCheckRules.unsupported,
    timeoutMs: guardrailCheckRules.timeoutMs,
    blockMessage: guardrailCheckRules.blockMessage,
    onEvent: guardrailCheckRules.onEvent,
    includeContent: guardrailCheckRules.includeContent,
    name: 'string?',
    strategy: 'any',
    applyTo: 'any',
    roles: guardrailCheckRules.roles,
    release: ['passthrough', 'window', 'sentence', 'full'],
    key: 'any',
    hash: { length: 4, tenant: 'any' },
    mask: { keepLast: 0, char: 'any', preserveFormat: 'any' },
    vault: {
      store: 'any',
      ttlMs: 1,
      prefix: 'any',
      storeTimeoutMs: 'ms',
      restore: 'any',
      restoreFor: 'function?',
      restoreInLinks: [true, false],
    },
    placeholder: 'function?',
    detect: 'any',
  })
  for (const detect of [options.detect ?? []].flat()) {
    if (typeof detect !== 'function')
      throw wrongOption('pii', 'detect', 'a function, or a list of them', detect)
  }
  if (options.detect !== undefined && options.release === 'window') {
    const wish = "'full' or 'sentence' with `detect`, which finds words that a window would cut"
    throw wrongOption('pii', 'release', wish, options.release)
  }
  if (!Array.isArray(applyTo)) throw wrongOption('pii', 'applyTo', 'a list of stages', applyTo)
  for (const stage of applyTo) checkOptions('pii', { applyTo: stage }, { applyTo: stages })
  const chosen = typeof strategy === 'string' ? [strategy] : Object.values(strategy)
  for (const value of chosen) checkOptions('pii', { strategy: value }, { strategy: strategies })
  const isKeyed = chosen.includes('hash') || chosen.includes('pseudonymize')
  if (isKeyed && (typeof key !== 'string' || key.length < 16)) {
    throw new TypeError('pii: `key` must have at least 16 characters for `hash` and `pseudonymize`')
  }
  if (chosen.includes('vault') && !vault) {
    throw wrongOption('pii', 'vault', 'true or options for the strategy `vault`', vault)
  }
  if (typeof vault === 'object') {
    if (vault.store !== undefined) checkStore('pii', vault.store, [], 'vault.store')
    for (const place of vault.restore ?? []) {
      checkOptions('pii', { vault: { restore: place } }, { vault: { restore: places } })
    }
  }
}

const places = ['arguments', 'output']
const stages: readonly GuardrailStage[] = [
  'input',
  'output',
  'arguments',
  'result',
  'instructions',
  'reasoning',
]
