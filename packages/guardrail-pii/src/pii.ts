import type { AgentMiddleware, ChatMiddleware, FunctionMiddleware } from '@lamella/core'
import type { GuardrailMiddleware } from '@lamella/guardrail'
import { guardrail } from '@lamella/guardrail'
import { detectorOptions } from './find/find-pii.ts'
import { PiiCheck } from './pii-check.ts'
import type { PiiOptions } from './pii-options.ts'
import { checkPiiOptions } from './pii-options.ts'
import { redacted } from './replace/strategy.ts'
import type { VaultOptions } from './replace/vault-options.ts'
import { Vault } from './replace/vault.ts'
import { restoreArguments, restoreOutput } from './replace/vault-middleware.ts'

/** Middleware of `pii()`. Only a vault adds agent middleware. */
export type PiiMiddleware<VaultOption = undefined> =
  | ChatMiddleware
  | FunctionMiddleware
  | (VaultOption extends undefined | false ? never : AgentMiddleware)

/**
 * Keeps personal data and secrets from models, tools and callers: finds them, also across streamed updates, and
 * redacts, masks, hashes, replaces or vaults them, or ends the run.
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { pii } from '@lamella/guardrail-pii'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const client = scriptedClient(['Write to bob@example.org or call +44 20 7946 0958.'])
 * const agent = new Agent({ client, middleware: pii() })
 *
 * console.log((await agent.run('Whom do I ask?')).text) // Write to [EMAIL] or call [PHONE].
 * ```
 * @throws TypeError or RangeError that names the option and the value
 */
export function pii<VaultOption extends VaultOptions | boolean | undefined = undefined>(
  options: PiiOptions<VaultOption> = {},
): readonly PiiMiddleware<VaultOption>[] {
  const all: PiiOptions = options as PiiOptions
  checkPiiOptions(all)
  const detector = detectorOptions('pii', all)
  const { name = 'pii', mode, when, vault: vaultOption, detect, applyTo = usualStages } = all
  const { placeholder = (kind, count) => `<${redacted(kind).slice(1, -1)}_${count}>` } = all
  const vaultOptions = vaultOption === true ? {} : vaultOption || undefined
  const vault = vaultOptions && new Vault(name, vaultOptions, placeholder)
  const judge = new PiiCheck(all, detector, vault)
  const { onError, unsupported, timeoutMs, blockMessage, onEvent, includeContent } = all

  const middlewares: (GuardrailMiddleware<'chat'> | AgentMiddleware)[] = [
    ...guardrail<'chat'>({
      name,
      role: 'pii',
      level: 'chat',
      applyTo,
      roles: all.roles ?? ['user', 'assistant', 'tool'],
      check: (subject, context) =>
        judge.check(subject, context.run, detect ? context.signal : never),
      stream: {
        release: all.release ?? (detect ? 'full' : 'window'),
        pending: (text, from) => judge.pending(text, from),
      },
      mode,
      when,
      onError,
      unsupported,
      timeoutMs,
      blockMessage,
      onEvent,
      includeContent,
    }),
  ]
  if (mode !== undefined && mode !== 'enforce') return middlewares as PiiMiddleware<VaultOption>[]
  const part = (suffix: string) => ({ name: `${name}-${suffix}`, when })
  if (vault) {
    const { restore } = vaultOptions
    const atOutput = restoreOutput(vault, part('output'), vaultOptions)
    middlewares.push({ ...atOutput, inherited: true })
    if (restore?.includes('arguments') ?? true) {
      const atArguments = restoreArguments(vault, part('arguments'), vaultOptions)
      middlewares.push({ ...atArguments, inherited: true })
    }
  }
  return middlewares as PiiMiddleware<VaultOption>[]
}

const usualStages = ['input', 'output', 'arguments', 'result'] as const
const never: AbortSignal = new AbortController().signal
