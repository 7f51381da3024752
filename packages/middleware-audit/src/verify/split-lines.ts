export interface SplitLine {
  /** Bytes without the line break. */
  readonly bytes: Uint8Array
  /** True if the line ends with a line break. */
  readonly isWhole: boolean
}

/** Splits bytes into lines. The bytes behind the last line break form an incomplete line. */
export async function* splitLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<SplitLine> {
  let open: Uint8Array[] = []
  for await (const chunk of source) {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      const rest = chunk.subarray(from, at)
      yield { bytes: open.length === 0 ? rest : Buffer.concat([...open, rest]), isWhole: true }
      open = []
      from = at + 1
    }
    if (from < chunk.length) open.push(chunk.subarray(from))
  }
  if (open.length > 0) yield { bytes: Buffer.concat(open), isWhole: false }
}
