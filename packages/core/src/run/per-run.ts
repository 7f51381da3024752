import type { RunContext } from '../contract/run.ts'
import { engineOf } from './run.ts'

/**
 * Returns the function that gives each run a value of its own, made when it is first needed. The run
 * holds the value: out of a `WeakMap`, V8's minor collections would not free it.
 */
export function perRun<Value extends object>(make: () => Value): (run: RunContext) => Value {
  const valueOf = (run: RunContext): Value => {
    const kept = (engineOf(run).kept ??= new Map())
    if (!kept.has(valueOf)) kept.set(valueOf, make())
    return kept.get(valueOf) as Value
  }
  return valueOf
}
