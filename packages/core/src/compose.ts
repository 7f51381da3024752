import { MiddlewareContractError } from './contract-error.ts'
import type { LayerContext } from './layered-call.ts'
import { isThenable } from './update-passage.ts'

interface Layer<Context, Result> {
  readonly name: string
  process(context: Context, callNext: () => Promise<Result>): void | Promise<unknown>
}

/**
 * Nests layers around a handler, the first one outermost. The handler puts the result on the call;
 * `recover` says what becomes of an error that has left all layers.
 */
export function compose<Context extends LayerContext<Result>, Result, Outcome = Result>(
  layers: readonly Layer<Context, Result>[],
  handler: (context: Context) => void | Promise<void>,
  recover: (context: Context, error: unknown) => Outcome | Promise<Outcome>,
): (context: Context) => Promise<Result | Outcome> {
  function start(context: Context): Promise<unknown> {
    const layer = layers[context.depth]
    try {
      const running =
        layer === undefined
          ? handler(context)
          : layer.process(context, () => callNext(layer, context))
      return isThenable(running) ? running : Promise.resolve()
    } catch (error) {
      return Promise.reject(error)
    }
  }

  function callNext(layer: Layer<Context, Result>, caller: Context): Promise<Result> {
    if (caller.inside !== undefined) return refuse(layer, caller)
    caller.call.enter(caller.depth)
    const context = caller.derive()
    return (caller.inside = start(context).then<Result>(
      () => settle(layers[context.depth], context, caller),
      (error: unknown) => leave(context, caller, error),
    ))
  }

  return async (context) => {
    try {
      try {
        await start(context)
      } catch (error) {
        leave(context, undefined, error)
      }
      const settled = settle(layers[0], context, undefined)
      return settled instanceof Promise ? await settled : settled
    } catch (error) {
      return recover(context, error)
    }
  }
}

function settle<Result>(
  layer: { readonly name: string } | undefined,
  context: LayerContext<Result>,
  caller: LayerContext<Result> | undefined,
): Result | Promise<Result> {
  if (layer === undefined) return finish('the innermost handler', context, caller)
  const { name } = layer
  if (context.broken !== undefined) leave(context, caller, context.broken)
  if (context.inside !== undefined) {
    const problem = 'returned before its callNext() had settled; await it'
    leave(context, caller, new MiddlewareContractError(name, problem))
  }
  const waiting = context.call.adopt(context.depth)
  if (waiting === undefined) return finish(name, context, caller)
  return waiting.then(
    () => finish(name, context, caller),
    (error: unknown) => leave(context, caller, error),
  )
}

function finish<Result>(
  name: string,
  context: LayerContext<Result>,
  caller: LayerContext<Result> | undefined,
): Result {
  const { result } = context.call
  if (result === undefined) {
    const problem = 'neither set context.result nor let callNext() give one'
    return leave(context, caller, new MiddlewareContractError(name, problem))
  }
  context.inside = over
  if (caller !== undefined) caller.inside = undefined
  return result
}

function leave<Result>(
  context: LayerContext<Result>,
  caller: LayerContext<Result> | undefined,
  error: unknown,
): never {
  const { call, depth, inside } = context
  if (inside !== undefined) {
    inside.catch(() => {})
    call.abandon(error)
  }
  context.inside = over
  if (caller !== undefined) caller.inside = undefined
  call.fail(error, depth)
  throw error
}

/** In the place of what is inside a layer that has left: nothing runs there any more. */
const over: Promise<never> = new Promise(() => {})

function refuse<Result>(
  { name }: { readonly name: string },
  context: LayerContext<Result>,
): Promise<never> {
  const problem =
    context.inside === over
      ? 'called callNext() after it had returned'
      : 'called callNext() while an earlier call was still running'
  const error = new MiddlewareContractError(name, problem)
  context.broken = error
  const refused = Promise.reject(error)
  // The layer may have let go of the promise; the error reaches the caller all the same.
  refused.catch(() => {})
  return refused
}
