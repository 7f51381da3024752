import { open, readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import type { LabelledLine } from '../guardrails/labelled-line.ts'

/**
 * Reads the lines of a file, one after another, each time that it is iterated: for `casesFromLines`,
 * `casesFromAudit` and others. A name that ends in `.gz` is a compressed file.
 */
export function readTexts(path: string | URL): AsyncIterable<string> {
  return { [Symbol.asyncIterator]: () => textsOf(path) }
}

/**
 * Reads the labeled lines of a file with JSON lines, one after another, each time that it is iterated. A
 * name that ends in `.gz` is a compressed file.
 */
export function readLines(path: string | URL): AsyncIterable<LabelledLine> {
  return {
    async *[Symbol.asyncIterator]() {
      for await (const line of textsOf(path)) {
        if (line.trim() !== '') yield JSON.parse(line) as LabelledLine
      }
    },
  }
}

async function* textsOf(path: string | URL): AsyncGenerator<string> {
  if (String(path).endsWith('.gz')) {
    yield* gunzipSync(await readFile(path))
      .toString('utf8')
      .split('\n')
    return
  }
  yield* linesOf(path)
}

/** Lines of a file, one at a time. */
export async function* linesOf(path: string | URL): AsyncGenerator<string> {
  const file = await open(path)
  try {
    for await (const line of file.readLines()) yield line
  } finally {
    await file.close()
  }
}
