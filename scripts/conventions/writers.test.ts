import { readFileSync, globSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const src = fileURLToPath(new URL('../../packages/core/src', import.meta.url))

/** An assignment to a field of a run, or of one of its parts. */
const write =
  /\b(?:run|engine)\.(?:(?:progress|journal|messages|sink|tools|interrupts)\.)?\w+\s*(?:=(?![=>])|\+=|-=|\?\?=|\|\|=|&&=|\+\+|--)/g

describe('the state of a run', () => {
  it('is written by its own room: other rooms tell it by methods what has happened', () => {
    const files = globSync(`${src}/**/*.ts`).filter(
      (file) => !/\.test(-d|-helper)?\.ts$/.test(file),
    )
    const others = files.filter((file) => !relative(src, file).startsWith('run'))

    const written = others.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(write)].map(
        ([text]) => `${relative(src, file)}: ${text}`,
      ),
    )

    expect(others.length).toBeGreaterThan(50)
    expect(written).toEqual([])
  })
})
