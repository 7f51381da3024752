import type {
  AgentMiddleware,
  AgentResponseUpdate,
  Content,
  FunctionMiddleware,
  Message,
  RunContext,
  UpdateTransformer,
} from '@lamella/core'
import type { GuardrailContext } from '@lamella/guardrail'
import { holdBackGate } from '@lamella/guardrail'
import type { MiddlewareOptions } from '@lamella/core/authoring'
import {
  defineAgentMiddleware,
  defineFunctionMiddleware,
  unlessAborted,
} from '@lamella/core/authoring'
import type { Vault } from './vault.ts'
import type { VaultOptions } from './vault-options.ts'

type Shared = MiddlewareOptions<GuardrailContext, never>

/** Restores placeholders for the caller of a run, and saves the values of the run in the session. */
export function restoreOutput(
  vault: Vault,
  options: Shared,
  { restore }: VaultOptions,
): AgentMiddleware {
  return defineAgentMiddleware('pii', options, async (context, callNext) => {
    const { run } = context
    await unlessAborted(run.signal, vault.open(run))
    // Before the first placeholder is created: text that somebody wrote in its form stays text.
    const avoid = (messages: readonly Message[]): readonly Message[] => {
      for (const { contents } of messages) {
        for (const text of textsIn(contents)) vault.avoid(run, text)
      }
      return messages
    }
    avoid([...(run.session?.messages ?? []), ...context.messages])
    run.gateInput(avoid)
    if (restore?.includes('output') ?? true) {
      const isJson = context.options.responseFormat !== undefined
      context.transformUpdates(restoredTexts(vault, run, isJson))
      context.transformUpdates(restoredResults(vault, run))
    }
    await callNext()
    await unlessAborted(run.signal, vault.close(run))
  })
}

/** Restores placeholders in arguments, directly before a tool runs. */
export function restoreArguments(
  vault: Vault,
  options: Shared,
  { restoreFor }: VaultOptions,
): FunctionMiddleware {
  return defineFunctionMiddleware('pii', options, async (context, callNext) => {
    if (restoreFor?.(context.function.name) ?? true) {
      context.arguments = restoredIn(context.arguments, (text) => vault.restore(context.run, text))
    }
    await callNext()
  })
}

function textsIn(contents: readonly Content[]): readonly string[] {
  return contents.flatMap((content) => {
    if (content.type === 'function-call') return content.arguments
    if (content.type === 'function-result') return textsIn(content.contents)
    return content.type === 'text' ? content.text : []
  })
}

function restoredTexts(
  vault: Vault,
  run: RunContext,
  isJson: boolean,
): UpdateTransformer<AgentResponseUpdate> {
  return holdBackGate({
    release: 'window',
    // Not tool calls: an approval is bound to the original call.
    parts: ['text', 'refusal', 'reasoning'],
    readAs: isJson ? 'json' : 'decoded',
    pending: (text, from) => vault.openFrom(run, text, from),
    scan: ({ text }) => vault.shown(run, text),
  })
}

function restoredResults(vault: Vault, run: RunContext): UpdateTransformer<AgentResponseUpdate> {
  const restored = (content: Content): Content =>
    content.type === 'function-result'
      ? { ...content, contents: content.contents.map(restoredText) }
      : content
  const restoredText = (content: Content): Content =>
    content.type === 'text'
      ? { ...content, text: vault.restoreShown(run, content.text) }
      : restored(content)
  return {
    transform(update, controller) {
      const hasResult = update.contents.some(({ type }) => type === 'function-result')
      controller.enqueue(
        hasResult ? { ...update, contents: update.contents.map(restored) } : update,
      )
    },
  }
}

function restoredIn<T>(value: T, restore: (text: string) => string): T
function restoredIn(value: unknown, restore: (text: string) => string): unknown {
  if (typeof value === 'string') return restore(value)
  if (Array.isArray(value)) return value.map((entry) => restoredIn(entry, restore))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [restore(key), restoredIn(entry, restore)]),
  )
}
