import type { AgentResponse, ChatResponse, Usage } from '@lamella/core'
import type { ClientUpdate } from '../updates/client-updates.ts'
import type { HttpFailure } from '../http/http-failure.ts'

/** Facts about an answer that are known at its start. */
export interface AnswerHead {
  /** Random part of its ids. */
  readonly id: string
  /** Name of the model, as the client asked for it. */
  readonly model: string
  /** Seconds since 1970. */
  readonly created: number
}

/** The end of an answer: of a model call, or of a run. */
export type Final = ChatResponse & Partial<Pick<AgentResponse, 'status'>>

/** Writes an answer in the format of one of the APIs. */
export interface OpenAIWriter {
  /** Events for a piece. */
  add(update: ClientUpdate): string
  /** Events for the end. */
  end(final: Final): string
  /** Events for a failure after the first piece. */
  fail(failure: HttpFailure): string
  /** The answer as one object. Made of what was added. */
  whole(final: Final): object
}

/** Body of an error, as OpenAI's SDKs read it. */
export function errorBody({ status, code, message }: HttpFailure): { readonly error: object } {
  const type =
    status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'server_error'
  return { error: { message, type, param: null, code } }
}

/** The counters of both APIs, under their names. */
export function usageOf(
  usage: Usage,
  [input, output]: readonly ['prompt' | 'input', 'completion' | 'output'],
): object {
  const { inputTokens = 0, outputTokens = 0, totalTokens = inputTokens + outputTokens } = usage
  return {
    [`${input}_tokens`]: inputTokens,
    [`${output}_tokens`]: outputTokens,
    total_tokens: totalTokens,
    [`${input}_tokens_details`]: { cached_tokens: usage.cachedInputTokens ?? 0 },
    [`${output}_tokens_details`]: { reasoning_tokens: usage.reasoningTokens ?? 0 },
  }
}
