import type { ChatContext, FunctionInvocationContext } from '@lamella/core'
import { isProviderError } from '@lamella/core'
import { isControlFlow, reporter } from '@lamella/core/authoring'
import type { DurableEngine } from './durable-engine.ts'
import type { StoredCall } from './stored-call.ts'
import {
  costSince,
  restoreModel,
  restoreTool,
  storedFailure,
  storedModelCall,
  storedToolCall,
} from './stored-call.ts'
import type { FindTool, ToolChanges } from './tool-changes.ts'
import { changeAgain, changesSince } from './tool-changes.ts'

/** Ways to run a step: stored, and anew where nothing was stored. */
export interface Steps extends Record<'step' | 'redo', DurableEngine['step']> {
  /** Name of the process that makes the steps. */
  readonly process: string
  readonly findTool: FindTool
}

/** Makes a model call as a step. A failure that is worth a retry is the engine's. */
export async function modelStep(
  steps: Steps,
  name: string,
  context: ChatContext,
  callNext: () => Promise<unknown>,
): Promise<void> {
  const costs = costSince(context)
  const stored = await once(steps, name, async (fail) => {
    try {
      await callNext()
      return storedModelCall(context.result!, costs(), context)
    } catch (error) {
      fail(error)
      if (isControlFlow(error, context.signal)) return left
      if (isProviderError(error) && error.retry.retryable) throw error
      return storedFailure(error, context, costs())
    }
  })
  if (stored?.kind === 'left') await steps.redo(name, callNext)
  else if (stored !== undefined) {
    tell(context.run, { restored: name, by: stored.by })
    restoreModel(context, stored)
  }
}

/** Makes a tool call as a step. It has failed for good if it fails: it may have had an effect. */
export async function toolStep(
  steps: Steps,
  name: string,
  context: FunctionInvocationContext,
  callNext: () => Promise<unknown>,
): Promise<void> {
  const changes = changesSince(context.tools)
  const stored = await once(steps, name, async (fail) => {
    try {
      await callNext()
      return { ...storedToolCall(context), tools: changes() }
    } catch (error) {
      fail(error)
      if (isControlFlow(error, context.signal)) return left
      return { ...storedFailure(error, context), tools: changes() }
    }
  })
  if (stored?.kind === 'left') await steps.redo(name, callNext)
  else if (stored !== undefined) {
    tell(context.run, { restored: name, by: stored.by })
    if (stored.tools !== undefined)
      changeAgain(context.tools, stored.tools, (tool) => steps.findTool(tool, context.run))
    restoreTool(context, stored)
  }
}

const tell = reporter<{ readonly restored: string; readonly by: string }>('durable', undefined)

/** Nothing to restore: in a later pass, the call is made again. */
const left: StoredCall = { kind: 'left' }

type Stored = StoredCall & { readonly tools?: ToolChanges | undefined }

/** Returns what an earlier pass has stored. Undefined if the call was made in this one. */
async function once(
  { step, process }: Steps,
  name: string,
  work: (fail: (error: unknown) => void) => Promise<Stored>,
): Promise<(Stored & { readonly by: string }) | undefined> {
  let hasRun = false
  let failure: { readonly error: unknown } | undefined
  const fail = (error: unknown): void => void (failure = { error })
  const stored = await step(name, async () => {
    hasRun = true
    failure = undefined
    return { ...(await work(fail)), by: process }
  }).catch((error: unknown) => {
    throw failure?.error ?? error
  })
  if (failure !== undefined) throw failure.error
  return hasRun ? undefined : stored
}
