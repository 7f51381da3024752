import { ContractViolation } from './contract-suite.ts'

const madeId = /"\w+_[0-9a-f]{12}(?:[0-9a-f]{20})?(?:-\d+)?"/g

/** @throws ContractViolation unless it holds. */
export function demand(holds: boolean, message: string): asserts holds {
  if (!holds) throw new ContractViolation(message)
}

/** @throws ContractViolation unless both are equal as data: undefined fields count as missing. */
export function demandSame(actual: unknown, expected: unknown, what: string): void {
  const [left, right] = [asData(actual), asData(expected)]
  if (left === right) return
  throw new ContractViolation(`${what} must be ${clip(right)}, got ${clip(left)}`)
}

/**
 * Returns what tells whether a text is anywhere in a value, errors with all their fields: loggers and inspectors may
 * show more than `JSON.stringify`. Ids that core has made are left out, since half a word is in them by chance.
 */
export function searchIn(value: unknown): (text: string) => boolean {
  const json = (JSON.stringify(value, withAll) ?? '').replace(madeId, '""')
  return (text) => json.includes(JSON.stringify(text).slice(1, -1))
}

/**
 * Returns the error that `work` rejects with.
 * @throws ContractViolation if it does not reject
 */
export async function rejectionOf(work: Promise<unknown>, what: string): Promise<unknown> {
  let value: unknown
  try {
    value = await work
  } catch (error) {
    return error
  }
  throw new ContractViolation(`${what} must reject, but resolved to ${clip(asData(value))}`)
}

/** Settles as `work` does. @throws ContractViolation if that takes longer. */
export async function within<T>(ms: number, work: Promise<T>, what: string): Promise<T> {
  let isSettled = false
  const settled = (): void => void (isSettled = true)
  work.then(settled, settled)
  await untilHolds(ms, () => isSettled)
  demand(isSettled, `${what} must settle within ${ms} ms, and has not`)
  return work
}

/**
 * Waits until a condition holds, or as long as this. A single task takes a tenth of the time at most: where the process
 * stands still for longer, what is due comes behind it.
 */
export async function untilHolds(ms: number, holds: () => boolean): Promise<void> {
  for (let leftMs = ms; leftMs > 0 && !holds(); ) {
    const begunAt = Date.now()
    await nextTask()
    leftMs -= Math.min(Math.max(Date.now() - begunAt, 0), ms / 10)
  }
}

/** Waits until all pending callbacks have run. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}

function withAll(_: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const carried = value as unknown as Readonly<Record<string, unknown>>
  const names = ['name', ...Object.getOwnPropertyNames(value)]
  return Object.fromEntries(names.map((name) => [name, carried[name]]))
}

function asData(value: unknown): string {
  return JSON.stringify(value, (_, entry: unknown) => {
    if (entry instanceof Error) return `${entry.name}: ${entry.message}`
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return entry
    const fields = Object.entries(entry).filter(([, field]) => field !== undefined)
    return Object.fromEntries(fields.toSorted(([left], [right]) => (left < right ? -1 : 1)))
  })
}

function clip(text: string | undefined): string {
  const shown = String(text)
  return shown.length > 400 ? `${shown.slice(0, 400)}…` : shown
}
