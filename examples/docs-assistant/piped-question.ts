/**
 * Reads a piped question. It does not wait for a pipe that stays open and silent, as servers and CI
 * leave behind.
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
    // Nobody wrote anything, or the pipe broke: the text received so far counts.
  } finally {
    clearTimeout(silence)
  }
  return text.trim() || undefined
}
