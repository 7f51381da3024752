import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test.each(['scripts/size-budgets.json', 'bench/regression.json', 'scripts/core-measure.json'])(
  'only a release or a decision record has moved %s',
  (file) => {
    const { movedBy }: { movedBy: string } = JSON.parse(readFileSync(file, 'utf8'))

    expect(movedBy === 'a release' || existsSync(movedBy)).toBe(true)
  },
)
