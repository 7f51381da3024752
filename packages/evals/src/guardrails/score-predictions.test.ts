import { describe, expect, test } from 'vitest'
import type { LabelledLine, Prediction, Truth } from './labelled-line.ts'
import { readTruth } from './labelled-line.ts'
import { GuardrailScores, isGoodWhenHigh } from './score-predictions.ts'

function scorePredictions(
  lines: readonly { text: string; truth: Truth | undefined; prediction: Prediction }[],
) {
  const scores = new GuardrailScores()
  for (const { text, truth, prediction } of lines) scores.add(text, truth!, prediction)
  return scores.figures()
}

const row = (more: object): LabelledLine => ({
  id: 'a',
  text: 'Call 555 0100 or 555 0199',
  ...more,
})
const phone = (start: number, end: number) => ({ kind: 'phone', start, end })

describe('flags', () => {
  const flagged = (label: string, tier: string, flag: boolean) => ({
    text: '',
    truth: readTruth(row({ label, tier, family: `${tier}:more` })),
    prediction: { flag },
  })

  test('are scored as a whole and by group', () => {
    const figures = scorePredictions([
      flagged('positive', 'A', true),
      flagged('positive', 'B', false),
      flagged('benign', 'docs', true),
      flagged('benign', 'docs', false),
    ])

    expect(figures).toEqual({
      precision: 0.5,
      f1: 0.5,
      recall: 0.5,
      falsePositiveRate: 0.5,
      'recall:A': 1,
      'recall:B': 0,
      'falsePositiveRate:docs': 0.5,
    })
  })

  test('a guardrail that finds spans flags a row where it finds any', () => {
    const truth = { flag: true }

    const found = scorePredictions([{ text: '', truth, prediction: { preds: [phone(0, 1)] } }])
    const missed = scorePredictions([{ text: '', truth, prediction: { preds: [] } }])

    expect([found['recall'], missed['recall']]).toEqual([1, 0])
  })
})

describe('spans', () => {
  const score = (more: object, preds: { kind: string; start: number; end: number }[]) => {
    const labelled = row({ spans: [phone(5, 13), phone(17, 25)], scope: ['phone'], ...more })
    return scorePredictions([
      { text: labelled.text, truth: readTruth(labelled), prediction: { preds } },
    ])
  }

  test('an overlap finds a span, and only the same ends are exact', () => {
    const figures = score({}, [phone(5, 13), phone(20, 25), phone(0, 4)])

    expect(figures).toMatchObject({ 'recall:phone': 1, 'exact:phone': 0.5 })
    expect(figures['precision:phone']).toBeCloseTo(2 / 3)
  })

  test('a kind that is not labelled in a row does not count there', () => {
    const figures = score({}, [{ kind: 'email', start: 0, end: 4 }])

    expect(figures).toEqual({ recall: 0, 'recall:phone': 0 })
  })

  test('a span that begins within another one is wrong once', () => {
    const figures = score({ spans: [phone(17, 25)] }, [phone(0, 10), phone(5, 12), phone(17, 25)])

    expect(figures['precision:phone']).toBe(0.5)
  })

  test('a weak row misses nothing, and a whole one needs all of the text for a false alarm', () => {
    expect(score({ weak: true }, [])).toEqual({})
    expect(score({ spans: [], match: 'whole' }, [phone(0, 4)])).toEqual({})
    expect(score({ spans: [], match: 'whole' }, [phone(0, 25)])['precision']).toBe(0)
  })
})

test('counts are scored by how far they are off and how often they are too low', () => {
  const counted = (predicted: number) => ({
    text: '',
    truth: { value: 100 },
    prediction: { value: predicted },
  })

  const figures = scorePredictions([counted(100), counted(130), counted(70), counted(80)])

  expect(figures).toEqual({ meanError: 0.2, tooLow: 0.25 })
})

test('of some figures less is better', () => {
  const names = ['recall', 'recall:A', 'exact:phone', 'falsePositiveRate:docs', 'meanError']

  expect(names.map(isGoodWhenHigh)).toEqual([true, true, true, false, false])
})
