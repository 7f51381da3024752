import type { ChatOptions } from '@lamella/core'
import { checkChatOptions } from '@lamella/core/authoring'

type Options = Readonly<Record<string, unknown>>

/**
 * The provider options of a call under these names, those of later names over those of earlier ones.
 * `aliases` are names that people give for one of them, by the name that counts.
 * @throws TypeError for a name that differs from one of them only in case, for an alias, and for an
 * option of the call that is not known
 */
export function ownProviderOptions(
  options: ChatOptions,
  names: readonly string[],
  aliases: Readonly<Record<string, string>> = {},
): Options {
  checkChatOptions(options)
  const { providerOptions = {} } = options
  for (const given of Object.keys(providerOptions)) {
    if (names.includes(given)) continue
    const lower = given.toLowerCase()
    const meant = Object.hasOwn(aliases, lower) ? aliases[lower] : lower
    if (meant !== undefined && names.includes(meant)) {
      throw new TypeError(
        `providerOptions: unknown provider \`${given}\`; did you mean \`${meant}\`?`,
      )
    }
  }
  return Object.assign({}, ...names.map((name) => providerOptions[name]))
}
