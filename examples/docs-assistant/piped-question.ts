/**
 * Reads a piped question. A pipe that stays open and silent, as servers and CI leave behind, is not
 * waited for.
 */
export async function pipedQuestion(
  input: NodeJS.ReadStream,
  patienceMs = 1000,
): Promise<string | undefined> {
  if (input.isTTY) return undefined
  let text = ''
  input.setEncoding('utf8')
  const silence = setTimeout(() => input.destroy(), patienceMs)
  try {
    for await (const piece of input) {
      clearTimeout(silence)
      text += piece
    }
  } catch {
    // Nobody wrote anything, or the pipe broke: what came until then counts.
  } finally {
    clearTimeout(silence)
  }
  return text.trim() || undefined
}
