import { isProviderError } from '@lamella/core'
import type { ChosenModel } from './chosen-model.ts'
import { failureText } from './in-words.ts'

/** Explains a failure to the user in one sentence. */
export function failureSentence(error: unknown, model: ChosenModel): string {
  const { address, name, hasKey, variables } = model
  if (!isProviderError(error)) return failureText(error)
  const status = error.status === undefined ? '' : ` (${error.status})`
  switch (error.kind) {
    case 'auth':
      return hasKey
        ? `${address} does not accept the key${status}: check ${variables.key}`
        : `${address} asks for a key${status}: set ${variables.key}`
    case 'not_found':
      return `${address} has no model "${name}"${status}: check ${variables.model} and ${variables.address}`
    case 'network': {
      const code = error.details?.['code']
      const why = typeof code === 'string' ? ` (${code})` : ''
      return error.partial === undefined
        ? `${address} cannot be reached${why}: check ${variables.address} and the network`
        : `the connection to ${address} was lost during the answer${why}`
    }
    default:
      return failureText(error)
  }
}
