import type { ChatContext, ChatResponse } from '@lamella/core'
import type { VectorIndex } from './vector-index.ts'

/** A question, and a similar one that was answered before. */
export interface SimilarQuestion {
  /** Question of this call. */
  readonly question: string
  /** Question that was answered before. */
  readonly answered: string
  /** Similarity of their vectors, from -1 to 1. */
  readonly similarity: number
  /** Stored answer to the earlier question. */
  readonly response: Pick<ChatResponse, 'messages'>
  /** Context of this call. */
  readonly context: ChatContext
}

/** Settings for questions with the same meaning. */
export interface SemanticOptions {
  /** Computes the vector of a question. Called once for each call without an entry of its own. */
  readonly embed: (
    question: string,
    options: { readonly signal: AbortSignal },
  ) => readonly number[] | Promise<readonly number[]>
  /**
   * Minimum similarity of a match, from 0 to 1. The best value depends on the embedding: measure it with
   * `calibrateThreshold` on questions of your own.
   * @default 0.95
   */
  readonly threshold?: number | undefined
  /**
   * Index of the answered questions.
   * @default in this process, at most 1000 questions
   */
  readonly index?: VectorIndex | undefined
  /**
   * Decides whether two similar questions may share an answer.
   * @default compares numbers, names, quotes and negations
   */
  readonly sameFacts?: ((question: string, answered: string) => boolean) | undefined
  /**
   * Makes the final decision on a match, for example by asking a model.
   * @default accepts every match
   */
  readonly verify?: ((similar: SimilarQuestion) => boolean | Promise<boolean>) | undefined
  /**
   * Excludes questions from matching by meaning, such as those about the asker.
   * @default none
   */
  readonly except?: ((question: string) => boolean) | undefined
  /**
   * Length above which a question is not matched by meaning, in estimated tokens.
   * @default 2000
   */
  readonly maxQuestionTokens?: number | undefined
  /**
   * Time limit in milliseconds for each of the embedding, the search and the verification. After it, the
   * call is made.
   * @default 5000
   */
  readonly timeoutMs?: number | undefined
}
