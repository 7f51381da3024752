import { isObject } from '@lamella/core/authoring'

/** The choice of a completion or a chunk that is read where there are several. */
export function firstChoice(
  payload: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { choices } = payload
  const first: unknown = Array.isArray(choices)
    ? choices.find((choice) => isObject(choice) && !choice['index'])
    : undefined
  return isObject(first) ? first : {}
}
