import type {
  ChatContext,
  ChatResponse,
  FunctionInvocationContext,
  FunctionResult,
} from '@lamella/core'
import { isProviderError, isToolError, LamellaError, ProviderError, ToolError } from '@lamella/core'
import {
  isErrorOfTool,
  isJson,
  jsonCopy,
  restoreModelCall,
  restoreToolCall,
  usageSince,
} from '@lamella/core/authoring'

/** A failure as JSON. */
interface StoredError {
  readonly name: string
  readonly message: string
  readonly code?: string | undefined
  /** Of a `ToolError`. */
  readonly reason?: ToolError['reason'] | undefined
  /** Of a `ProviderError`. */
  readonly provider?: Pick<
    ProviderError,
    'kind' | 'provider' | 'status' | 'retry' | 'requestId' | 'details'
  >
}

/** Cost of a model call, also of one that failed. */
type Cost = NonNullable<Parameters<typeof restoreModelCall>[2]>

/** A step of the workflow as the engine stores it. */
export type StoredCall =
  | { readonly kind: 'model'; readonly response: ChatResponse; readonly cost: Cost }
  | {
      readonly kind: 'tool'
      readonly result: FunctionResult
      /** True if the tool itself returned it. */
      readonly executed: boolean
    }
  | {
      readonly kind: 'failed'
      readonly error: StoredError
      /** True if the tool threw it, for the model to read. */
      readonly ofTool: boolean
      readonly cost: Cost | undefined
    }
  /** Ended without a result: the run was paused, terminated or aborted. */
  | { readonly kind: 'left' }

/** Returns a function that tells what has been spent since. */
export function costSince({ run }: ChatContext): () => Cost {
  const { usage, attempts } = run
  return () => ({
    servedBy: run.servedBy,
    usage: usageSince(run.usage, usage),
    attempts: run.attempts.slice(attempts.length),
  })
}

export function storedModelCall(
  response: ChatResponse,
  cost: Cost,
  context: ChatContext,
): StoredCall {
  const { value } = response
  // A schema reads the value again.
  const isParsed = typeof context.options.responseFormat === 'object'
  const metadata = Object.entries(response.metadata).filter(([, item]) => isJson(item))
  const plain = {
    ...response,
    raw: undefined,
    value: isParsed ? undefined : value,
    metadata: Object.fromEntries(metadata),
  }
  return jsonCopy({ kind: 'model', response: plain, cost })
}

export function storedToolCall({ result, executed }: FunctionInvocationContext): StoredCall {
  return jsonCopy({ kind: 'tool', result: result!, executed })
}

export function storedFailure(
  error: unknown,
  context: ChatContext | FunctionInvocationContext,
  cost?: Cost,
): StoredCall {
  const ofTool = 'function' in context && isErrorOfTool(context, error)
  return jsonCopy({ kind: 'failed', error: storedError(error), ofTool, cost })
}

function storedError(error: unknown): StoredError {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  if (!LamellaError.is(error)) return { name, message }
  const { code } = error
  if (isToolError(error)) return { name, message, code, reason: error.reason }
  if (!isProviderError(error)) return { name, message, code }
  const { kind, provider, status, retry, requestId, details } = error
  const facts = { kind, provider, status, retry, requestId, details }
  return {
    name,
    message,
    code,
    provider: isJson(details ?? {}) ? facts : { ...facts, details: undefined },
  }
}

function errorFrom({ name, message, code, reason, provider }: StoredError): Error {
  if (provider !== undefined) {
    return new ProviderError(message, { ...provider, kind: provider.kind })
  }
  if (reason !== undefined) return new ToolError(message, { reason })
  if (code !== undefined) return new LamellaError(message, { code })
  return Object.defineProperty(new Error(message), 'name', { value: name, configurable: true })
}

/** Puts a stored model call in place of `callNext()`. Throws what it threw. */
export function restoreModel(context: ChatContext, stored: StoredCall): void {
  if (stored.kind === 'model') {
    return restoreModelCall(context, stored.response, stored.cost)
  }
  if (stored.kind !== 'failed') throw changed(`a model call`, stored)
  const { usage, attempts = [] } = stored.cost ?? {}
  for (const attempt of attempts) context.run.recordAttempt(attempt)
  if (usage !== undefined) context.run.addUsage(usage)
  throw errorFrom(stored.error)
}

/** Puts a stored tool call in place of `callNext()`. Throws what it threw. */
export function restoreTool(context: FunctionInvocationContext, stored: StoredCall): void {
  if (stored.kind === 'failed') {
    const error = errorFrom(stored.error)
    if (stored.ofTool) return restoreToolCall(context, { error })
    throw error
  }
  if (stored.kind !== 'tool') throw changed(`a call of "${context.function.name}"`, stored)
  if (stored.executed) return restoreToolCall(context, { result: stored.result })
  context.result = stored.result
}

function changed(what: string, { kind }: StoredCall): LamellaError {
  return workflowChanged(`${what} found the step of kind "${kind}"`)
}

/** Makes the error of a workflow whose stored steps are not those of its code. */
export function workflowChanged(what: string, cause?: unknown): LamellaError {
  const advice = 'the agent has changed since the workflow began; run it with the earlier version'
  return new LamellaError(`durable: ${what}: ${advice}`, { code: 'workflow_changed', cause })
}
