import type {
  ChatContext,
  ChatMiddleware,
  ChatResponseUpdate,
  RunContext,
  StateCell,
  UpdateTransformer,
} from '@lamella/core'
import type { GuardrailEvent } from '@lamella/guardrail'
import { defineState, GuardrailTripped } from '@lamella/core'
import { defineChatMiddleware, isControlFlow, reporter } from '@lamella/core/authoring'
import { requestTokens, tokenCalibration } from '@lamella/text'
import { dropOldestTurns } from './drop-oldest-turns.ts'
import type { MaxTokensOptions, TokenEvent, TokenLimit } from './max-tokens-options.ts'
import { exceedActions } from './max-tokens-options.ts'
import { OutputCut } from './output-cut.ts'
import type { CountMethod, TokenCounter } from './token-counter.ts'
import { calibrated, counterFor } from './token-counter.ts'

/** Model that the run called last. Tool calls are counted with its vocabulary. */
export const modelOfRun: StateCell<string> = defineState({
  name: 'lamella.tokens.model',
  initial: () => '',
})

/** Creates the middleware that limits input and output of a model call. */
export function callLimits(name: string, options: MaxTokensOptions): ChatMiddleware {
  const { maxInputTokens, maxOutputTokens, maxTotalTokens, mode, blockMessage, onEvent } = options
  const actions = exceedActions(options.onExceed)
  const report = reporter<TokenEvent>('guardrail', onEvent)
  // Keeps figures of models, none of runs.
  const calibration = tokenCalibration()
  const isShadow = mode === 'shadow'

  const tell = (
    run: RunContext,
    stage: 'input' | 'output',
    status: GuardrailEvent['status'],
    figures: { readonly tokens?: number; readonly limit: number; readonly method: CountMethod },
  ): void => {
    report(run, {
      guardrail: name,
      stage,
      status: isShadow ? 'shadow' : status,
      category: `max_${stage}_tokens`,
      ...figures,
    })
  }
  const tripped = (
    stage: 'input' | 'output',
    words: string,
    category = `max_${stage}_tokens`,
    cause?: unknown,
  ): GuardrailTripped => {
    const block = { guardrail: name, level: 'chat', stage, category } as const
    return new GuardrailTripped({ ...block, message: blockMessage ?? words }, { cause })
  }

  /** Applies the limit and returns the tokens of the remaining input. */
  const limitInput = (context: ChatContext, counter: TokenCounter, limit: number): number => {
    const size = (messages: ChatContext['messages']): number =>
      requestTokens({ ...inputOf(context), messages }, counter.count)
    const tokens = size(context.messages)
    if (tokens <= limit) return tokens
    const { method } = counter
    const shorter =
      actions.input === 'truncate'
        ? dropOldestTurns(context.messages, (messages) => size(messages) <= limit)
        : undefined
    tell(context.run, 'input', shorter ? 'replaced' : 'blocked', { tokens, limit, method })
    if (isShadow) return tokens
    const about = method === 'estimate' ? 'about ' : ''
    if (shorter === undefined) {
      throw tripped('input', `The input has ${about}${tokens} tokens, and ${limit} are allowed.`)
    }
    context.messages = shorter
    return size(shorter)
  }

  const limitOutput = (context: ChatContext, { weigh, method }: TokenCounter, limit: number) => {
    const isBlocked = actions.output === 'block'
    const { maxOutputTokens: asked = limit } = context.options
    const maxTokens = isBlocked ? limit : Math.min(asked, limit)
    if (!isBlocked && !isShadow)
      context.options = { ...context.options, maxOutputTokens: maxTokens }
    const onCut = (): void => {
      tell(context.run, 'output', isBlocked ? 'blocked' : 'replaced', { limit, method })
      if (isBlocked && !isShadow) {
        throw tripped('output', `The answer has more than ${limit} tokens.`)
      }
    }
    const cut = new OutputCut({ name, weigh, maxTokens, mayEnd: context.stream, onCut })
    context.transformUpdates(isShadow ? watching(cut) : cut)
  }

  /** Returns the estimate that the provider's own count can calibrate. */
  const limit = async (context: ChatContext): Promise<Estimate | undefined> => {
    const model = context.options.model ?? context.client.model ?? ''
    context.run.state.update(modelOfRun, () => model)
    const plain = await counterFor(model, options)
    const isEstimate = plain.method === 'estimate'
    const counter = isEstimate ? calibrated(plain, calibration.factor(model)) : plain
    const total = limitFor(context, maxTotalTokens)
    const most = Math.min(limitFor(context, maxInputTokens), total - 1)
    const left = total - limitInput(context, counter, most)
    const output = Math.min(limitFor(context, maxOutputTokens), Math.max(1, left))
    if (output !== Infinity) limitOutput(context, counter, output)
    if (!isEstimate) return undefined
    return { model, tokens: requestTokens(inputOf(context), plain.count) }
  }

  return defineChatMiddleware('tokens', { ...options, name }, async (context, callNext) => {
    let estimate: Estimate | undefined
    try {
      estimate = await limit(context)
    } catch (error) {
      if (isControlFlow(error, context.signal)) throw error
      const category = 'guardrail_error'
      report(context.run, { guardrail: name, stage: 'input', status: 'error', category })
      if (options.onError !== 'open' && !isShadow) {
        throw tripped('input', blockMessage ?? '', category, error)
      }
    }
    const { usage } = await callNext()
    if (estimate) calibration.learn(estimate.model, estimate.tokens, usage.inputTokens)
  })
}

interface Estimate {
  readonly model: string
  readonly tokens: number
}

function inputOf({ messages, instructions, options }: ChatContext) {
  const { tools, responseFormat } = options
  return { messages, instructions, tools, responseFormat }
}

function limitFor(context: ChatContext, limit: TokenLimit | undefined): number {
  return typeof limit === 'function' ? limit(context) : (limit ?? Infinity)
}

/** Shows updates to a transformer and passes them on unchanged. */
function watching(inner: OutputCut): UpdateTransformer<ChatResponseUpdate> {
  const nobody = { enqueue() {}, terminate() {} }
  return {
    start: () => inner.start(),
    transform(update, controller) {
      inner.transform(update, nobody)
      controller.enqueue(update)
    },
    flush: () => inner.flush(nobody),
  }
}
