import { cleanText } from './clean-text.ts'

/** Progress of a call, as the server reports it. The value of a `tool-progress` event. */
export interface McpProgress {
  /** Progress so far, which grows with each report. */
  readonly progress: number
  /** Value of `progress` at the end, if the server knows it. */
  readonly total?: number | undefined
  /** Message of the server for a person. */
  readonly message?: string | undefined
}

/** Reports that one call may make. What a server sends beyond them is dropped. */
const maxReports = 1000

/** Reads a server's report. */
export function progressOf(given: unknown): McpProgress {
  const { progress, total, message } = (given ?? {}) as Readonly<Record<string, unknown>>
  return {
    progress: typeof progress === 'number' ? progress : 0,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message: cleanText(message, 500) }),
  }
}

/** Yields what `work` pushes until it is done, and returns its result. */
export async function* yieldWhile<Item, Result>(
  work: (push: (item: Item) => void) => Promise<Result>,
): AsyncGenerator<Item, Result> {
  const waiting: Item[] = []
  let pushed = 0
  let isDone = false
  let wake: () => void = () => {}
  const result = work((item) => {
    if (++pushed > maxReports) return
    waiting.push(item)
    wake()
  })
  const finish = (): void => {
    isDone = true
    wake()
  }
  result.then(finish, finish)
  for (;;) {
    const item = waiting.shift()
    if (item !== undefined) yield item
    else if (isDone) return await result
    else {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
}
