/** Asks until an answer has no problem, and prints the problem of every other answer. */
export async function askUntil(
  ask: () => Promise<string>,
  problemOf: (answer: string) => string | undefined,
  tell: (problem: string) => void,
): Promise<string> {
  for (;;) {
    const answer = (await ask()).trim()
    const problem = problemOf(answer)
    if (problem === undefined) return answer
    tell(problem)
  }
}
