import type {
  Content,
  DataContent,
  HostedContent,
  ReasoningContent,
  UriContent,
} from '@lamella/core'
import type { CallIds } from './call-ids.ts'

/** Fate of a content: it is sent, left out since the provider has no use for it, or lost. */
export type ContentFate = 'kept' | 'unwanted' | 'lost'

/** Maker of a content: the provider, the application (a content without an origin), or another provider. */
export type ContentMaker = 'provider' | 'application' | 'other'

/** Change of a file that an API does not take as it is. */
export interface FileLoss {
  /** Sentence for `losses`, such as `an image is left out`. */
  readonly words: string
  /** True if nothing of the file is sent. */
  readonly isLeftOut: boolean
}

/** Rules by which a history is made legal for one model of one API. */
export interface HistoryRules {
  /** Provider that the history is sent to. What it made itself may go back to it whole. */
  readonly provider: string
  /** Model that the history is sent to, if it is known. */
  readonly model: string | undefined
  /** Part of a model's name that thinking is bound to, such as the name without its date. @default all of it */
  readonly modelFamily?: (model: string) => string
  /** Returns a maker of legal ids for the calls of one history. */
  readonly callIds: () => Pick<CallIds, 'legal'>
  /** Characters of the longest name of a tool. */
  readonly longestToolName: number
  /** True if a text of white space alone is sent. @default false */
  readonly takesBlankText?: boolean
  /** True if the results of consecutive assistant messages stand behind the last of them. @default false */
  readonly resultsEndTurn?: boolean
  /** True if the provider keeps earlier messages: results may answer calls of those. @default false */
  readonly isContinued?: boolean
  /** Fate of thinking of the same provider and model. All other thinking is lost. */
  readonly reasoning: (content: ReasoningContent) => ContentFate
  /** Returns a refusal as it is sent, or `undefined` to leave it out. */
  readonly refusal: (
    content: Extract<Content, { readonly type: 'refusal' }>,
    isOwn: boolean,
  ) => Content | undefined
  /** Fate of what a hosted tool did, or of a part in the provider's own words. */
  readonly hosted: (content: HostedContent, maker: ContentMaker) => ContentFate
  /** True if approvals of hosted tools by this maker are sent. */
  readonly takesApprovals: (maker: ContentMaker) => boolean
  /** Returns the change of a file that is not sent as it is. */
  readonly fileLoss: (content: DataContent | UriContent) => FileLoss | undefined
}
