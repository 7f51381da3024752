import { describe, expect, test } from 'vitest'
import type { QuestionPair } from './calibrate-threshold.ts'
import { calibrateThreshold } from './calibrate-threshold.ts'

/** A direction in degrees, written in the question. */
const embed = (question: string): number[] => {
  const degrees = question.split('°')[0]!.length
  return [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)]
}
const at = (degrees: number): string => `${'.'.repeat(degrees)}°`
const pair = (degrees: number, same: boolean): QuestionPair => ({
  questions: [at(0), at(degrees)],
  same,
})
const cosine = (degrees: number): number => Math.cos((degrees * Math.PI) / 180)
const sameFacts = (): boolean => true

describe('calibrateThreshold', () => {
  test('finds the lowest threshold that takes no different pair for the same', async () => {
    const pairs = [pair(5, true), pair(10, true), pair(40, true), pair(20, false), pair(60, false)]

    const { threshold, found, wrong } = await calibrateThreshold({ pairs, embed, sameFacts })

    expect(threshold).toBeCloseTo(cosine(10))
    expect([found, wrong]).toEqual([2 / 3, 0])
  })

  test('goes lower where some may be wrong', async () => {
    const pairs = [pair(5, true), pair(40, true), pair(20, false), pair(60, false)]

    const calibration = await calibrateThreshold({ pairs, embed, sameFacts, maxWrong: 0.5 })

    expect(calibration).toEqual({ threshold: expect.closeTo(cosine(40)), found: 1, wrong: 0.5 })
  })

  test('pairs whose facts differ are told apart by those', async () => {
    const pairs: QuestionPair[] = [
      { questions: ['in 2019', 'in 2020'], same: false },
      { questions: ['in town', 'in the town'], same: true },
    ]

    const calibration = await calibrateThreshold({ pairs, embed: () => [1, 0] })

    expect(calibration).toEqual({ threshold: 1, found: 1, wrong: 0 })
  })

  test('where nothing can be found, it says 1', async () => {
    expect(await calibrateThreshold({ pairs: [], embed })).toEqual({
      threshold: 1,
      found: 0,
      wrong: 0,
    })
    await expect(calibrateThreshold({ pairs: [], embed, maxWrong: 2 })).rejects.toThrow(
      '`maxWrong` must be from 0 to 1, got 2',
    )
  })
})
