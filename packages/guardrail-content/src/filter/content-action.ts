/** Action for unwanted content. */
export type ContentAction = 'block' | 'retry' | 'replace' | 'flag'

/** Actions from the strictest to the mildest. */
export const contentActions: readonly ContentAction[] = ['block', 'retry', 'replace', 'flag']

/** Returns the strictest action. */
export function worstAction(actions: readonly ContentAction[]): ContentAction {
  return contentActions.find((action) => actions.includes(action)) ?? 'flag'
}
