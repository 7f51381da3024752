import type { AgentContext } from './agent-context.ts'
import type { ChatContext } from './chat-context.ts'
import type { OptionRules } from './check-options.ts'
import type { FunctionInvocationContext } from './function-context.ts'
import type { AgentMiddleware, ChatMiddleware, FunctionMiddleware } from './middleware.ts'
import { unlessAborted } from './unless-aborted.ts'

/** What every ready-made layer takes. `Event` is what it tells of its work, without any content. */
export interface LayerOptions<Context, Event = unknown> {
  /**
   * Unique among the layers of its level.
   * @default the name of the factory
   */
  readonly name?: string | undefined
  /**
   * Whether the layer works for a call; otherwise the call passes as if the layer were not there.
   * @default always
   */
  readonly when?: ((context: Context) => boolean | Promise<boolean>) | undefined
  /**
   * `shadow` reports what it would do and does nothing, `off` does not even look.
   * @default 'enforce'
   */
  readonly mode?: 'enforce' | 'shadow' | 'off' | undefined
  /** Told of what the layer does. What it throws is dropped. */
  readonly onEvent?: ((event: Event) => void) | undefined
}

/** Rules of the options that every ready-made layer takes, for `checkOptions`. */
export const layerRules: OptionRules<LayerOptions<never>> = {
  name: 'string?',
  when: 'function?',
  mode: ['enforce', 'shadow', 'off'],
  onEvent: 'function?',
}

/** Makes an agent layer that keeps `when` and `mode: 'off'`. `role` is its place in the order. */
export function agentLayer(
  role: string,
  options: LayerOptions<AgentContext, never>,
  process: AgentMiddleware['process'],
): AgentMiddleware {
  return { level: 'agent', name: options.name ?? role, role, process: gated(options, process) }
}

/** Makes a chat layer that keeps `when` and `mode: 'off'`. `role` is its place in the order. */
export function chatLayer(
  role: string,
  options: LayerOptions<ChatContext, never>,
  process: ChatMiddleware['process'],
): ChatMiddleware {
  return { level: 'chat', name: options.name ?? role, role, process: gated(options, process) }
}

/** Makes a function layer that keeps `when` and `mode: 'off'`. `role` is its place in the order. */
export function functionLayer(
  role: string,
  options: LayerOptions<FunctionInvocationContext, never>,
  process: FunctionMiddleware['process'],
): FunctionMiddleware {
  return { level: 'function', name: options.name ?? role, role, process: gated(options, process) }
}

function gated<Context extends { readonly signal: AbortSignal }, Result>(
  { when, mode }: LayerOptions<Context, never>,
  process: (context: Context, callNext: () => Promise<Result>) => void | Promise<unknown>,
): (context: Context, callNext: () => Promise<Result>) => void | Promise<unknown> {
  if (mode === 'off') return (_, callNext) => callNext()
  if (when === undefined) return process
  return async (context, callNext) => {
    const isOn = await unlessAborted(context.signal, Promise.resolve(when(context)))
    return isOn ? process(context, callNext) : callNext()
  }
}
