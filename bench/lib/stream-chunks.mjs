/** A chunk of a streamed Chat Completion, as a server sends it. */
export function chunkOf(delta, finish_reason = null) {
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
}

/** The text of the chunk with that number: six characters. */
export function wordOf(index) {
  return `word${index % 10} `
}

/** The bodies of an answer of 300 chunks, ten in a piece. */
export const pieces = Array.from({ length: 30 }, () =>
  Array.from({ length: 10 }, (_, index) => chunkOf({ content: wordOf(index) })).join(''),
)
pieces.push(`${chunkOf({}, 'stop')}data: [DONE]\n\n`)
