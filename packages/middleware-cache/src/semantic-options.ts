import type { ChatContext, ChatResponse } from '@lamella/core'
import type { VectorIndex } from './vector-index.ts'

/** A question, and one that was answered before. */
export interface SimilarQuestion {
  readonly question: string
  readonly answered: string
  readonly similarity: number
  readonly response: Pick<ChatResponse, 'messages'>
  readonly context: ChatContext
}

/** How questions that mean the same are found. */
export interface SemanticOptions {
  /** Makes a vector of a question. It is asked once for each call that is not answered exactly. */
  readonly embed: (
    question: string,
    options: { readonly signal: AbortSignal },
  ) => readonly number[] | Promise<readonly number[]>
  /**
   * From 0 to 1. What is right depends on the embedding: measure it on questions of your own.
   * @default 0.95
   */
  readonly threshold?: number | undefined
  /** @default in this process, at most 1000 questions */
  readonly index?: VectorIndex | undefined
  /**
   * Whether two questions may have the same answer, besides being near.
   * @default the same numbers, names, quotes and negations
   */
  readonly sameFacts?: ((question: string, answered: string) => boolean) | undefined
  /** The last word, such as a model's. @default none is asked */
  readonly verify?: ((similar: SimilarQuestion) => boolean | Promise<boolean>) | undefined
  /** Questions that are only answered exactly, such as those about the asker. @default none */
  readonly except?: ((question: string) => boolean) | undefined
  /**
   * Longer questions are only answered exactly.
   * @default 2000
   */
  readonly maxQuestionTokens?: number | undefined
  /**
   * For each of the embedding, the search and the check. After it, the call is made.
   * @default 5000
   */
  readonly timeoutMs?: number | undefined
}
