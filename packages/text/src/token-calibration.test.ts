import { describe, expect, it } from 'vitest'
import { tokenCalibration } from './token-calibration.ts'

describe('calibration by reported usage', () => {
  it('is neutral for a model that it knows nothing of', () => {
    const calibration = tokenCalibration()
    calibration.learn('a', 100, 150)

    expect(calibration.factor('b')).toBe(1)
  })

  it('comes near what a model reports, and follows a change', () => {
    const calibration = tokenCalibration()
    for (let call = 0; call < 5; call++) calibration.learn('a', 100, 150)
    expect(calibration.factor('a')).toBeCloseTo(1.5)

    for (let call = 0; call < 30; call++) calibration.learn('a', 100, 90)
    expect(calibration.factor('a')).toBeCloseTo(0.9, 2)
  })

  it('gives the last call more weight than those before', () => {
    const calibration = tokenCalibration()
    calibration.learn('a', 100, 100)
    calibration.learn('a', 100, 200)

    expect(calibration.factor('a')).toBeCloseTo((80 + 200) / (80 + 100))
  })

  it.each([undefined, 0, Number.NaN, -1])('takes no notice of a reported %s', (reported) => {
    const calibration = tokenCalibration()
    calibration.learn('a', 100, reported)
    calibration.learn('b', 0, 10)

    expect([calibration.factor('a'), calibration.factor('b')]).toEqual([1, 1])
  })

  it('never goes beyond half and three times', () => {
    const calibration = tokenCalibration()
    calibration.learn('low', 1000, 1)
    calibration.learn('high', 1, 1000)

    expect([calibration.factor('low'), calibration.factor('high')]).toEqual([0.5, 3])
  })

  it('forgets the model that it heard of least recently', () => {
    const calibration = tokenCalibration()
    for (let index = 0; index < 100; index++) calibration.learn(`model-${index}`, 100, 200)
    calibration.learn('model-0', 100, 200)
    calibration.learn('model-100', 100, 200)

    expect(calibration.factor('model-0')).toBe(2)
    expect(calibration.factor('model-1')).toBe(1)
    expect(calibration.factor('model-2')).toBe(2)
  })
})
