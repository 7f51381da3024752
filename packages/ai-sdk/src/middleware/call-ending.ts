import type { Block, ChatResponse } from '@lamella/core'
import { chatResponse, isTermination, LamellaError, outcomeOf } from '@lamella/core'
import { recordOf } from '@lamella/transport'
import { sourceError } from '../client/ai-sdk-error.ts'
import type { LamellaMiddlewareOptions } from './lamella-middleware-options.ts'
import { LamellaTermination } from './lamella-termination.ts'
import type { WrappedModelClient } from './wrapped-model-client.ts'

/** Answer or error that the AI SDK gets of a call without an answer. */
export type CallEnding = { readonly response: ChatResponse } | { readonly error: unknown }

const defaultMessage = 'I cannot help with this request.'

/** A block is an answer; all else is an error that the AI SDK understands. */
export function callEnding(
  error: unknown,
  { hasRetryOwner }: WrappedModelClient,
  { onBlock = 'return', blockMessage = defaultMessage }: LamellaMiddlewareOptions,
): CallEnding {
  if (LamellaError.is(error, 'guardrail_tripped')) {
    if (onBlock === 'throw') return { error }
    const block = recordOf(error)['block'] as Block
    return { response: blockedResponse(block, blockMessage, outcomeOf(error)?.usage) }
  }
  if (isTermination(error)) {
    return { error: new LamellaTermination(error.message, { code: error.code, cause: error }) }
  }
  // With the model's own error the AI SDK retries, unless a middleware has done so.
  return { error: hasRetryOwner ? error : (sourceError(error) ?? error) }
}

function blockedResponse(
  block: Block,
  blockMessage: string,
  usage: ChatResponse['usage'] | undefined,
): ChatResponse {
  return chatResponse({
    messages: block.message || blockMessage,
    finishReason: 'content-filter',
    ...(usage !== undefined && { usage }),
    metadata: {
      finishReason: `lamella:${block.guardrail}`,
      providerMetadata: { lamella: { block: { ...block } } },
    },
  })
}
