import type { FunctionResultContent } from '@lamella/core'

/** Makes a placeholder for the result of a call that has none. */
export function missingResult(callId: string): FunctionResultContent {
  const note = 'No result of this call was recorded.'
  return {
    type: 'function-result',
    callId,
    contents: [{ type: 'text', text: note }],
    error: { code: 'cancelled', message: note },
  }
}
