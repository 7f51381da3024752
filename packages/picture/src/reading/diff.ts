/** A stretch of two lists that is the same, or in one of them only. */
export interface DiffPart<Item> {
  readonly kind: 'same' | 'removed' | 'added'
  readonly items: readonly Item[]
}

const mostEdits = 500

/**
 * Compares two lists by the algorithm of Myers (1986). Lists that differ in more than 500 places are told
 * as replaced.
 */
export function diff<Item>(before: readonly Item[], after: readonly Item[]): DiffPart<Item>[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  const most = Math.min(before.length, after.length) - start
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end++
  const middle = between(
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  )
  const parts: DiffPart<Item>[] = [
    { kind: 'same', items: before.slice(0, start) },
    ...middle,
    { kind: 'same', items: before.slice(before.length - end) },
  ]
  return parts.filter(({ items }) => items.length > 0)
}

/** Compares two texts line by line. */
export function diffLines(before: string, after: string): DiffPart<string>[] {
  return diff(before.split(/(?<=\n)/), after.split(/(?<=\n)/))
}

/** Compares two texts word by word. */
export function diffWords(before: string, after: string): DiffPart<string>[] {
  return diff(before.split(/(\s+)/), after.split(/(\s+)/))
}

function between<Item>(before: readonly Item[], after: readonly Item[]): DiffPart<Item>[] {
  const trace = paths(before, after)
  if (trace === undefined || before.length === 0 || after.length === 0) {
    return [
      { kind: 'removed', items: before },
      { kind: 'added', items: after },
    ]
  }
  const steps: { kind: DiffPart<Item>['kind']; item: Item }[] = []
  let x = before.length
  let y = after.length
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const furthest = trace[edits]!
    const k = x - y
    const isDown = k === -edits || (k !== edits && reach(furthest, k - 1) < reach(furthest, k + 1))
    const fromX = isDown ? reach(furthest, k + 1) : reach(furthest, k - 1)
    const fromY = fromX - (isDown ? k + 1 : k - 1)
    while (x > Math.max(fromX, 0) && y > Math.max(fromY, 0)) {
      x--
      y--
      steps.push({ kind: 'same', item: before[x]! })
    }
    if (edits === 0) break
    if (isDown) steps.push({ kind: 'added', item: after[--y]! })
    else steps.push({ kind: 'removed', item: before[--x]! })
  }
  return joined(steps.toReversed())
}

/** How far each diagonal is reached with no edit, one edit, and so on. */
function paths<Item>(
  before: readonly Item[],
  after: readonly Item[],
): ReadonlyMap<number, number>[] | undefined {
  const trace: Map<number, number>[] = []
  let furthest = new Map([[1, 0]])
  for (let edits = 0; edits <= mostEdits; edits++) {
    trace.push(new Map(furthest))
    for (let k = -edits; k <= edits; k += 2) {
      const isDown =
        k === -edits || (k !== edits && reach(furthest, k - 1) < reach(furthest, k + 1))
      let x = isDown ? reach(furthest, k + 1) : reach(furthest, k - 1) + 1
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++
      furthest.set(k, x)
      if (x >= before.length && x - k >= after.length) return trace
    }
    furthest = new Map(furthest)
  }
  return undefined
}

function reach(furthest: ReadonlyMap<number, number>, k: number): number {
  return furthest.get(k) ?? -1
}

function joined<Item>(
  steps: readonly { readonly kind: DiffPart<Item>['kind']; readonly item: Item }[],
): DiffPart<Item>[] {
  const parts: { kind: DiffPart<Item>['kind']; items: Item[] }[] = []
  for (const { kind, item } of steps) {
    const last = parts.at(-1)
    if (last?.kind === kind) last.items.push(item)
    else parts.push({ kind, items: [item] })
  }
  return parts
}
