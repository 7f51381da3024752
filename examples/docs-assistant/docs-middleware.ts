import { setTimeout as delay } from 'node:timers/promises'
import type { ChatResponse, FunctionMiddleware, FunctionResult } from '@lamella/core'
import {
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  GuardrailTripped,
  isProviderError,
  messageText,
  textOf,
  ToolError,
} from '@lamella/core'
import type { DocsFolder } from './docs-folder.ts'
import { count, failureText, inSeconds, tokens } from './in-words.ts'
import { report } from './middleware-step.ts'

/** Wraps the whole run: measures its time, for every kind of end. */
export const timing = agentMiddleware('timing', async (context, callNext) => {
  const start = performance.now()
  report(context, { middleware: 'timing', mark: 'in', text: 'the run begins' })
  try {
    await callNext()
  } finally {
    const elapsedMs = performance.now() - start
    report(context, {
      middleware: 'timing',
      mark: 'out',
      text: tokens(context.run.usage),
      elapsedMs,
    })
  }
})

const rules = [
  {
    category: 'instructions',
    pattern: /\b(?:ignore|disregard|forget)\b.{0,30}\b(?:instructions?|rules?|prompts?)\b/isu,
    reply: 'I keep to my instructions. Ask me about the documents.',
  },
  {
    category: 'secrets',
    pattern:
      /\b(?:give|show|tell|print|reveal|send|what(?:'s| is| are))\b(?!.*\bhow\b).{0,40}\b(?:passwords?|secrets?|api[ -]?keys?|credentials?)\b/isu,
    reply: 'I do not talk about passwords and keys. Ask me about the documents.',
  },
]

/** Wraps the whole run: stops a question before any model sees it. */
export const inputGuardrail = agentMiddleware('input-guardrail', async (context, callNext) => {
  const question = context.messages.map(messageText).join('\n')
  const rule = rules.find(({ pattern }) => pattern.test(question))
  if (rule !== undefined) {
    const { category, reply } = rule
    report(context, {
      middleware: 'input-guardrail',
      mark: 'stopped',
      text: `${category}: no model is called`,
    })
    throw new GuardrailTripped({
      guardrail: 'input-guardrail',
      level: 'agent',
      stage: 'input',
      category,
      message: reply,
    })
  }
  report(context, { middleware: 'input-guardrail', mark: 'in', text: 'allows the question' })
  await callNext()
})

const maxRetries = 2

/** Wraps each model call: retries it when the provider's error allows it. */
export const retry = chatMiddleware('retry', async (context, callNext) => {
  // Turns off the retries of the provider's SDK: one owner is enough.
  context.options = { ...context.options, transportRetries: 0 }
  for (let attempt = 1; ; attempt++) {
    try {
      await callNext()
      return
    } catch (error) {
      // A retry would restart an answer that the caller has seen, so a stream that breaks is not retried.
      if (!isProviderError(error) || !error.retry.retryable || context.released) throw error
      if (attempt > maxRetries) throw error
      const delayMs = error.retry.afterMs ?? 200 * 2 ** (attempt - 1)
      context.run.recordAttempt({ status: 'failed', reason: error.kind, delayMs })
      const text = `waits ${inSeconds(delayMs)}, then retries (${attempt} of ${maxRetries})`
      report(context, { middleware: 'retry', mark: 'again', text })
      await delay(delayMs, undefined, { signal: context.signal })
    }
  }
})

/** Wraps each attempt of a model call: reports its input, its output and its time. */
export const modelLog = chatMiddleware('model-log', async (context, callNext) => {
  const start = performance.now()
  const { messages, options, iteration } = context
  const sent = `model call ${iteration + 1}: ${count(messages.length, 'message')}, ${count(options.tools?.length ?? 0, 'tool')}`
  report(context, { middleware: 'model-log', mark: 'in', text: sent })
  try {
    const response = await callNext()
    const elapsedMs = performance.now() - start
    report(context, { middleware: 'model-log', mark: 'out', text: answered(response), elapsedMs })
  } catch (error) {
    const elapsedMs = performance.now() - start
    report(context, {
      middleware: 'model-log',
      mark: 'failed',
      text: failureText(error),
      elapsedMs,
    })
    throw error
  }
})

function answered({ functionCalls, usage }: ChatResponse): string {
  const names = functionCalls.map(({ name }) => name).join(', ')
  return `${names === '' ? 'answers' : `asks for ${names}`} · ${tokens(usage, '')}`
}

/** Wraps each tool call: reports its arguments and a short result. */
export const toolLog = functionMiddleware('tool-log', async (context, callNext) => {
  const { name } = context.function
  const start = performance.now()
  const args = Object.entries(context.arguments).map(
    ([key, value]) => ` ${key}=${JSON.stringify(value)}`,
  )
  report(context, { middleware: 'tool-log', mark: 'in', text: `${name}${args.join('')}` })
  try {
    const result = await callNext()
    const elapsedMs = performance.now() - start
    report(context, {
      middleware: 'tool-log',
      mark: 'out',
      text: `${name}: ${inShort(result)}`,
      elapsedMs,
    })
  } catch (error) {
    report(context, {
      middleware: 'tool-log',
      mark: 'failed',
      text: `${name}: ${failureText(error)}`,
    })
    throw error
  }
})

function inShort({ value, contents }: FunctionResult): string {
  if (Array.isArray(value)) return count(value.length, 'passage')
  if (typeof value === 'object' && value !== null && 'total' in value)
    return count(Number(value.total), 'file')
  const text = textOf(contents)
  return `${count(text.split('\n').length, 'line')}, ${count(text.length, 'character')}`
}

/** Wraps each tool call: rejects a path outside the folder, for every tool. */
export function inFolder(folder: DocsFolder): FunctionMiddleware {
  return functionMiddleware('in-folder', async (context, callNext) => {
    const { path } = context.arguments
    if (typeof path === 'string') {
      if (!(await folder.contains(path))) {
        report(context, {
          middleware: 'in-folder',
          mark: 'stopped',
          text: `${path} is outside the folder`,
        })
        // The model reads this as the result of its call, and the run continues.
        throw new ToolError(`${path} is outside the folder`, { reason: 'denied' })
      }
      report(context, { middleware: 'in-folder', mark: 'in', text: `${path} is inside` })
    }
    await callNext()
  })
}
