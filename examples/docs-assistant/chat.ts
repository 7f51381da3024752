import { createInterface } from 'node:readline'
import type { Agent } from '@lamella/core'
import type { Totals } from './answer.ts'
import { answer } from './answer.ts'
import type { Screen } from './screen.ts'

export interface ChatSettings {
  readonly screen: Screen
  readonly totals: Totals
  /** Turns a failure into the text that the user reads. */
  readonly explainFailure: (error: unknown) => string
}

/** Asks and answers until the user leaves: with `exit`, Ctrl-D, or Ctrl-C at the prompt. */
export async function chat(
  agent: Agent,
  { screen, totals, explainFailure }: ChatSettings,
): Promise<void> {
  const session = agent.createSession()
  const history: string[] = []
  let hasAnswered = false
  screen.hint('Ctrl-C stops an answer; exit, Ctrl-D, or Ctrl-C at the prompt leaves.')
  for (;;) {
    screen.blank()
    const question = await askUser(history)
    screen.line('')
    if (question === undefined || /^(?:exit|quit)$/iu.test(question)) return
    if (question === '') continue
    const stop = new AbortController()
    const onInterrupt = (): void => {
      if (stop.signal.aborted) process.exit(130)
      stop.abort()
    }
    process.on('SIGINT', onInterrupt)
    try {
      await answer(agent, question, { screen, totals, session, signal: stop.signal })
      hasAnswered = true
    } catch (error) {
      // A failure before the first answer is a problem of the setup.
      if (!stop.signal.aborted && !hasAnswered) throw error
      screen.line(screen.style('yellow', explainFailure(error)))
    } finally {
      process.off('SIGINT', onInterrupt)
    }
  }
}

/** A line from the user; `undefined` when the user leaves. A pasted text is one question. */
function askUser(history: string[]): Promise<string | undefined> {
  const { stdin, stdout } = process
  const reader = createInterface({
    input: stdin,
    output: stdout,
    prompt: '› ',
    history,
    historySize: 100,
  })
  return new Promise((resolve) => {
    const lines: string[] = []
    let hasLeft = true
    reader.on('history', (entries) => history.splice(0, history.length, ...entries))
    reader.on('line', (line) => {
      if (lines.push(line) > 1) return
      hasLeft = false
      setImmediate(() => reader.close())
    })
    reader.on('SIGINT', () => {
      if (reader.line === '') reader.close()
      else reader.write(null, { ctrl: true, name: 'u' })
    })
    reader.on('close', () => {
      resolve(hasLeft ? undefined : lines.join('\n').trim())
    })
    reader.prompt()
  })
}
