import type { ChatOptions } from '@lamella/core'

/** Whether a call may be repeated without a second effect: what the provider runs itself may act. */
export function replayOf({ tools = [] }: ChatOptions): 'safe' | 'unsafe' {
  return tools.some(({ type }) => type === 'hosted') ? 'unsafe' : 'safe'
}
