import type { DataContent, ReasoningContent, UriContent } from '@lamella/core'
import type { ContentFate, FileLoss, HistoryRules } from '@lamella/transport'
import { CallIds } from '@lamella/transport'
import type { CallIdForm } from '../dialects/chat-dialect.ts'

/** Rules of an API that differ from those of OpenAI's other one. */
export interface ApiRules {
  readonly callIds: CallIdForm
  /** Fate of thinking that the same model made. */
  readonly reasoning: (content: ReasoningContent) => ContentFate
  /** True if it takes back what its hosted tools did. */
  readonly takesHosted: boolean
  /** True if a refusal has a field of its own. Elsewhere, it goes back as text. */
  readonly takesRefusals: boolean
  readonly fileLoss: (content: DataContent | UriContent) => FileLoss | undefined
}

/** Request body, and what it leaves out or changes of the history. */
export interface PreparedBody {
  readonly body: Record<string, unknown>
  readonly losses: readonly string[]
}

/** Builds the rules of one call from those of its API. */
export function historyRules(
  { callIds: { maxLength, isExact }, reasoning, takesHosted, takesRefusals, fileLoss }: ApiRules,
  call: Pick<HistoryRules, 'provider' | 'model' | 'isContinued'>,
): HistoryRules {
  return {
    ...call,
    modelFamily: (model) => model.replace(/-\d{4}-\d{2}-\d{2}$/, ''),
    // One provider's APIs differ in how long ids may be.
    callIds: () => new CallIds(maxLength, isExact, (id) => id.length <= maxLength),
    longestToolName: 64,
    takesBlankText: true,
    // One response may have several messages with calls between them.
    resultsEndTurn: true,
    reasoning,
    refusal: (content) => (takesRefusals ? content : { type: 'text', text: content.text }),
    hosted: (_, maker) =>
      maker === 'application' || (maker === 'provider' && takesHosted) ? 'kept' : 'lost',
    takesApprovals: () => takesHosted,
    fileLoss,
  }
}
