import type { MiddlewareInput } from '@lamella/core'
import type { TestClock } from '../base/test-clock.ts'

/** A middleware under test, and its clock. */
export interface MiddlewareSubject {
  readonly middleware: MiddlewareInput
  readonly clock: TestClock
}
