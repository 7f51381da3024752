import type { FinishReason } from '@lamella/core'

/** Maps finish reasons to their names in the conventions. */
export function finishReason(reason: FinishReason | undefined): string | undefined {
  return reason === 'tool-calls' ? 'tool_call' : reason?.replaceAll('-', '_')
}

export function finishReasons(reason: FinishReason | undefined): readonly string[] | undefined {
  const known = finishReason(reason)
  return known === undefined ? undefined : [known]
}
