import type { OptionRules } from '../base/check-options.ts'
import { unlessAborted } from '../base/waits.ts'
import type { AgentContext, AgentMiddleware } from '../contract/agent.ts'
import type { ChatContext, ChatMiddleware } from '../contract/chat.ts'
import type { FunctionInvocationContext, FunctionMiddleware } from '../contract/run.ts'

/** Options of every ready-made middleware. `Event` reports its work, without any content. */
export interface MiddlewareOptions<Context, Event = unknown> {
  /**
   * Name, unique among the middleware of its level.
   * @default the name of the factory
   */
  readonly name?: string | undefined
  /** Returns false for calls that skip the middleware. @default always */
  readonly when?: ((context: Context) => boolean | Promise<boolean>) | undefined
  /**
   * `enforce` acts, `shadow` only reports what it would do, `off` disables the middleware.
   * @default 'enforce'
   */
  readonly mode?: 'enforce' | 'shadow' | 'off' | undefined
  /** Receives reports of the middleware's work. Errors it throws are discarded. @default none */
  readonly onEvent?: ((event: Event) => void) | undefined
}

/** Rules of the options that every ready-made middleware takes, for `checkOptions`. */
export const middlewareRules: OptionRules<MiddlewareOptions<never>> = {
  name: 'string?',
  when: 'function?',
  mode: ['enforce', 'shadow', 'off'],
  onEvent: 'function?',
}

/**
 * Makes an agent middleware that honors `when` and `mode: 'off'`. `role` is its kind, for the
 * recommended order.
 */
export function defineAgentMiddleware(
  role: string,
  options: MiddlewareOptions<AgentContext, never>,
  process: AgentMiddleware['process'],
): AgentMiddleware {
  return { level: 'agent', name: options.name ?? role, role, process: gated(options, process) }
}

/**
 * Makes a chat middleware that honors `when` and `mode: 'off'`. `role` is its kind, for the
 * recommended order.
 */
export function defineChatMiddleware(
  role: string,
  options: MiddlewareOptions<ChatContext, never>,
  process: ChatMiddleware['process'],
): ChatMiddleware {
  return { level: 'chat', name: options.name ?? role, role, process: gated(options, process) }
}

/**
 * Makes a function middleware that honors `when` and `mode: 'off'`. `role` is its kind, for the
 * recommended order.
 */
export function defineFunctionMiddleware(
  role: string,
  options: MiddlewareOptions<FunctionInvocationContext, never>,
  process: FunctionMiddleware['process'],
): FunctionMiddleware {
  return { level: 'function', name: options.name ?? role, role, process: gated(options, process) }
}

function gated<Context extends { readonly signal: AbortSignal }, Result, Return>(
  { when, mode }: MiddlewareOptions<Context, never>,
  process: (context: Context, callNext: () => Promise<Result>) => Return,
): (
  context: Context,
  callNext: () => Promise<Result>,
) => Return | Promise<Result | Awaited<Return>> {
  if (mode === 'off') return (_, callNext) => callNext()
  if (when === undefined) return process
  return async (context, callNext): Promise<Result | Awaited<Return>> => {
    const isOn = await unlessAborted(context.signal, Promise.resolve(when(context)))
    return isOn ? await process(context, callNext) : callNext()
  }
}
