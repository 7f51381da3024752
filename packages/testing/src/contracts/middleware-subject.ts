import type { MiddlewareInput } from '@lamella/core'
import type { TestClock } from '../base/test-clock.ts'

/** A middleware under test, and the clock it was made with. */
export interface MiddlewareSubject {
  readonly middleware: MiddlewareInput
  readonly clock: TestClock
}
