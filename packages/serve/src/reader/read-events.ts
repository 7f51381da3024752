/** Reads server-sent events: names and parsed data. Comments are skipped. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<readonly [name: string, data: unknown]> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop
      const { done, value } = await reader.read()
      if (done) return
      const events = (rest + decoder.decode(value, { stream: true })).split('\n\n')
      rest = events.pop()!
      for (const event of events) {
        const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(event) ?? []
        if (data !== undefined) yield [name!, JSON.parse(data)]
      }
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}
