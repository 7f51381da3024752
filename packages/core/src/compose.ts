import { MiddlewareContractError } from './contract-error.ts'
import type { LayerContext } from './layered-call.ts'
import { isThenable } from './update-passage.ts'

interface Layer<Context, Result> {
  readonly name: string
  process(context: Context, callNext: () => Promise<Result>): void | Promise<unknown>
}

/** Nests layers around a handler, the first one outermost. The handler puts the result on the call. */
export function compose<Context extends LayerContext<Result>, Result>(
  layers: readonly Layer<Context, Result>[],
  handler: (context: Context) => Promise<void>,
): (context: Context) => Promise<Result> {
  function enter(context: Context, caller: Context | undefined): Promise<Result> {
    const layer = layers[context.depth]
    const { call, depth } = context
    const leave = (error: unknown): never => {
      if (context.inside !== undefined) {
        context.inside.catch(() => {})
        call.abandon(error)
      }
      context.inside = over
      if (caller !== undefined) caller.inside = undefined
      call.fail(error, depth)
      throw error
    }
    const finish = (): Result => {
      const { result } = call
      if (result === undefined) {
        const name = layer?.name ?? 'the innermost handler'
        return leave(
          new MiddlewareContractError(
            name,
            'neither set context.result nor let callNext() give one',
          ),
        )
      }
      context.inside = over
      if (caller !== undefined) caller.inside = undefined
      return result
    }
    const settle = (): Result | Promise<Result> => {
      if (layer === undefined) return finish()
      if (context.broken !== undefined) leave(context.broken)
      if (context.inside !== undefined) {
        leave(
          new MiddlewareContractError(
            layer.name,
            'returned before its callNext() had settled; await it',
          ),
        )
      }
      const waiting = call.adopt(depth)
      return waiting === undefined ? finish() : waiting.then(finish, leave)
    }

    let running: void | Promise<unknown>
    try {
      running =
        layer === undefined
          ? handler(context)
          : layer.process(context, () => callNext(layer, context))
    } catch (error) {
      running = Promise.reject(error)
    }
    const settled: Promise<unknown> = isThenable(running) ? running : Promise.resolve()
    return settled.then<Result>(settle, leave)
  }

  function callNext(layer: Layer<Context, Result>, context: Context): Promise<Result> {
    if (context.inside !== undefined) return refuse(layer, context)
    context.call.enter(context.depth)
    return (context.inside = enter(context.derive(), context))
  }

  return (context) => enter(context, undefined)
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
