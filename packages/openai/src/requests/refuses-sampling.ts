import type { ChatOptions } from '@lamella/core'

/**
 * Tells if a model refuses `temperature` and `topP`, as OpenAI's do while they reason. Models since
 * gpt-5.1 do not reason unless they are told to.
 */
export function refusesSampling(model = '', { reasoning }: ChatOptions): boolean {
  if (/chat/.test(model)) return false
  const effort = reasoning?.effort
  if (/^(?:.*\/)?gpt-5\.\d/.test(model)) return effort !== undefined && effort !== 'none'
  return /^(?:.*\/)?(?:o\d|gpt-5(?![\d.])|codex)/.test(model)
}
