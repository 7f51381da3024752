/** What becomes of content that is not wanted. */
export type ContentAction = 'block' | 'retry' | 'replace' | 'flag'

/** From the strictest on. */
export const contentActions: readonly ContentAction[] = ['block', 'retry', 'replace', 'flag']

/** The strictest one. */
export function worstAction(actions: readonly ContentAction[]): ContentAction {
  return contentActions.find((action) => actions.includes(action)) ?? 'flag'
}
