import { none } from '../base/none.ts'
import { LamellaError, messageOf } from '../base/lamella-error.ts'
import { MiddlewareContractError } from '../contract/contract-error.ts'
import type { Run } from '../run/run.ts'

/** State that all middleware of one call shares. */
export interface PipelineCall<Result> {
  result: Result | undefined
  /** Called before the middleware inside `depth` runs: discards registrations of the inner ones. */
  enter(depth: number): void
  /** Called when a middleware is done: accepts a result that the middleware assigned itself. */
  acceptResult(depth: number): void | Promise<void>
  /** Called when the innermost handler is done: completes the result that it gave. */
  read?(): void | Promise<void>
  /** Records which middleware threw an error, from the inside out. */
  fail?(error: unknown, depth: number): void
  /**
   * Called when a middleware has completed while its `callNext()` was still running: cancels that.
   */
  cancelInside?(error: unknown): void
}

type Inputs = Readonly<Record<string, unknown>>

/**
 * The view that one middleware has of a call. Each middleware has its own, so that what runs outside never sees
 * an edit of an input.
 */
export abstract class MiddlewareView<Result, Call extends PipelineCall<Result>> {
  declare readonly call: Call
  /** 0 for the outermost middleware. */
  declare readonly depth: number
  /** Inputs as the middleware found them. */
  declare readonly given: object
  /** Current values of the inputs. An edit makes a copy. */
  declare inputs: object
  /** Name of the middleware, or of the tool that is called. */
  declare owner: string
  /** Promise of the running `callNext()`. Undefined while none is running. */
  declare inside: Promise<Result> | undefined
  /** Value to which the last `callNext()` resolved. */
  declare received: Result | undefined
  /** View of what runs inside. */
  declare inner: this | undefined
  /** True once an assignment no longer reaches the inside: after `callNext()`. */
  declare isSent: boolean
  /** An input that was assigned since then. */
  declare late: string | undefined
  /** How the middleware broke the rules, which holds even if it swallows the error. */
  declare broken: MiddlewareContractError | undefined
  /** Overrides the run's signal. */
  declare ownSignal: AbortSignal | undefined

  // Declared fields are set here alone, since each call of a run makes some views.
  constructor(call: Call, depth: number, given: object, ownSignal?: AbortSignal) {
    this.call = call
    this.depth = depth
    this.given = given
    this.inputs = given
    this.ownSignal = ownSignal
    this.owner = ''
    this.inside = this.received = this.inner = this.late = this.broken = undefined
    this.isSent = false
  }

  /** A view for the next middleware in, with the inputs as they are now. */
  abstract derive(): this

  /**
   * Replaces an input. Once the inside has run, an edit counts only if it runs again; putting the given value
   * back is no edit.
   * @throws MiddlewareContractError if the middleware has returned
   */
  edit(name: string, value: unknown): void {
    if (value === (this.inputs as Inputs)[name]) return
    if (this.inside === over) throw this.#tooLate(name, 'after it had returned')
    if (this.isSent && value !== (this.given as Inputs)[name]) this.late ??= name
    this.inputs = { ...this.inputs, [name]: value }
  }

  /** Takes the result that a middleware returned. An iteration or a batch has none. */
  take(_result: unknown): void {}

  /** @throws MiddlewareContractError if the assigned result would be lost */
  protected checkResult(): void {
    if (this.inside === undefined) return
    const when = this.inside === over ? 'after it had returned' : 'while callNext() was running'
    throw this.#tooLate('result', when)
  }

  #tooLate(name: string, when: string): MiddlewareContractError {
    return new MiddlewareContractError(this.owner, `assigned context.${name} ${when}`)
  }
}

interface AnyView {
  readonly inputs: object
  edit(name: string, value: unknown): void
}

/** Gives a class of views an accessor for each of its inputs. */
export function defineInputs(
  View: { readonly prototype: AnyView },
  ...names: readonly string[]
): void {
  for (const name of names) {
    Object.defineProperty(View.prototype, name, {
      get(this: AnyView) {
        return (this.inputs as Inputs)[name]
      },
      set(this: AnyView, value: unknown) {
        this.edit(name, value)
      },
    })
  }
}

/** A call of a run, as its views read it. */
interface RunCall<Result> extends PipelineCall<Result> {
  readonly run: Run
  readonly metadata: Record<string, unknown>
}

/** A view of a run, a model call or a tool call. */
export abstract class CallView<Result, Call extends RunCall<Result>> extends MiddlewareView<
  Result,
  Call
> {
  get signal(): AbortSignal {
    return this.ownSignal ?? this.call.run.signal
  }

  set signal(signal: AbortSignal) {
    this.ownSignal = signal
  }

  get run(): Run {
    return this.call.run
  }

  get metadata(): Record<string, unknown> {
    return this.call.metadata
  }

  override take(result: unknown): void {
    ;(this as { result?: unknown }).result = result
  }
}

type View<Result> = MiddlewareView<Result, PipelineCall<Result>>

interface Middleware<Context, Result> {
  readonly name: string
  process(context: Context, callNext: () => Promise<Result>): unknown
}

/**
 * Nests middleware around a handler, the first one outermost. The handler puts the result on the call;
 * `recover` says what becomes of an error that has left all middleware.
 */
export function compose<Context extends View<Result>, Result, Outcome = Result>(
  middlewares: readonly Middleware<Context, Result>[],
  handler: (context: Context) => void | Promise<void>,
  recover: (context: Context, error: unknown) => Outcome | Promise<Outcome>,
): (context: Context) => Promise<Result | Outcome> {
  function start(context: Context): Promise<unknown> {
    const middleware = middlewares[context.depth]
    if (middleware !== undefined) context.owner = middleware.name
    try {
      const running: unknown =
        middleware === undefined
          ? handler(context)
          : middleware.process(context, (given?: unknown) => callNext(middleware, context, given))
      return running instanceof Promise ? running : Promise.resolve(running)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  type Own = Middleware<Context, Result>
  function callNext(middleware: Own, caller: Context, given: unknown): Promise<Result> {
    const names = given === undefined || given instanceof Error ? none : Object.keys(Object(given))
    if (caller.inside !== undefined || names.some((name) => name in caller))
      return refuse(middleware, caller)
    caller.call.enter(caller.depth)
    const context = (caller.inner = caller.derive())
    caller.isSent = true
    caller.late = caller.received = undefined
    return (caller.inside = start(context).then<Result>(
      (returned) => settle(middlewares[context.depth], context, caller, returned),
      (error: unknown) => leave(context, caller, error),
    ))
  }

  function end(context: Context, returned: unknown): Result | Outcome | Promise<Result | Outcome> {
    try {
      const settled = settle(middlewares[0], context, undefined, returned)
      return settled instanceof Promise
        ? settled.catch((error: unknown) => recover(context, error))
        : settled
    } catch (error) {
      return recover(context, error)
    }
  }

  function fail(context: Context, error: unknown): Outcome | Promise<Outcome> {
    try {
      return leave(context, undefined, error)
    } catch (last) {
      return recover(context, last)
    }
  }

  return (context) =>
    start(context).then(
      (returned) => end(context, returned),
      (error: unknown) => fail(context, error),
    )
}

function settle<Result>(
  middleware: { readonly name: string } | undefined,
  context: View<Result>,
  caller: View<Result> | undefined,
  returned: unknown,
): Result | Promise<Result> {
  const { call, depth, late } = context
  const name = middleware?.name ?? 'the innermost handler'
  if (middleware !== undefined) {
    if (context.broken !== undefined) leave(context, caller, context.broken)
    const problem =
      context.inside !== undefined
        ? 'returned before its callNext() had settled; await it'
        : late && `assigned context.${late} after its last callNext(), where it changes nothing`
    if (problem) leave(context, caller, new MiddlewareContractError(name, problem))
    take(name, context, caller, returned)
  }
  const completing = middleware === undefined ? call.read?.() : call.acceptResult(depth)
  if (completing === undefined) return finish(name, context, caller)
  return completing.then(
    () => finish(name, context, caller),
    (error: unknown) => leave(context, caller, error),
  )
}

/** Takes a result that the middleware returned. What its `callNext()` resolved to is the result already. */
function take<Result>(
  name: string,
  context: View<Result>,
  caller: View<Result> | undefined,
  returned: unknown,
): void {
  if (returned === undefined || returned === context.received) return
  if (returned === context.call.result) return
  try {
    context.take(returned)
  } catch (error) {
    const problem = `returned a value that is no result (${messageOf(error)})`
    leave(context, caller, new MiddlewareContractError(name, problem))
  }
}

function finish<Result>(
  name: string,
  context: View<Result>,
  caller: View<Result> | undefined,
): Result {
  const { result } = context.call
  if (context.inside === over) throw superseded()
  if (result === undefined) {
    const problem = 'neither set context.result nor let callNext() give one'
    return leave(context, caller, new MiddlewareContractError(name, problem))
  }
  context.inside = over
  if (caller !== undefined) {
    caller.inside = undefined
    caller.received = result
  }
  return result
}

function leave<Result>(
  context: View<Result>,
  caller: View<Result> | undefined,
  error: unknown,
): never {
  const { call, depth, inside } = context
  // A middleware further out has not waited for this one.
  if (inside === over) throw error
  if (inside !== undefined) {
    inside.catch(() => {})
    call.cancelInside?.(error)
    for (let view = context.inner; view !== undefined; view = view.inner) view.inside = over
  }
  context.inside = over
  if (caller !== undefined) {
    // A middleware that forgets to await callNext() must not leave an unhandled rejection.
    caller.inside?.catch(() => {})
    caller.inside = undefined
  }
  call.fail?.(error, depth)
  throw error
}

/** Makes the error of a call that nobody waits for any more. */
export function superseded(): LamellaError {
  return new LamellaError('the call was superseded or aborted', { code: 'aborted' })
}

/** Sentinel for `inside`: the middleware has completed. */
const over: Promise<never> = new Promise(() => {})

function refuse<Result>({ name }: { readonly name: string }, view: View<Result>): Promise<never> {
  const problem =
    view.inside === undefined
      ? 'passed a request to callNext(), which takes none; assign to the context'
      : view.inside === over
        ? 'called callNext() after it had returned'
        : 'called callNext() while an earlier call was still running'
  const error = new MiddlewareContractError(name, problem)
  view.broken = error
  const refused = Promise.reject(error)
  // The middleware may not await the promise; the error reaches the caller through `broken`.
  refused.catch(() => {})
  return refused
}
