import { nextTask } from './contract-assertions.ts'

interface Emitter {
  on(event: 'unhandledRejection', listener: (reason: unknown) => void): void
  off(event: 'unhandledRejection', listener: (reason: unknown) => void): void
}

/**
 * Runs `work` and returns the unhandled rejections in the meantime; none if the runtime has no such
 * event.
 */
export async function unhandledRejections(work: () => Promise<void>): Promise<readonly unknown[]> {
  const { process } = globalThis as { process?: Partial<Emitter> }
  const reasons: unknown[] = []
  const listener = (reason: unknown): void => void reasons.push(reason)
  process?.on?.('unhandledRejection', listener)
  try {
    await work()
    await nextTask()
    await nextTask()
  } finally {
    process?.off?.('unhandledRejection', listener)
  }
  return reasons
}
