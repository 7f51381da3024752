import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AzureContentFilterResults } from './azure-content-filter.ts'
import { ContentFilterFold } from './content-filter-fold.ts'

const scale = ['safe', 'low', 'medium', 'high']

const results = fc.record(
  {
    hate: fc.record({ filtered: fc.boolean(), severity: fc.constantFrom(...scale) }),
    jailbreak: fc.record({ filtered: fc.boolean(), detected: fc.boolean() }),
  },
  { requiredKeys: [] },
)

test('however a stream tells its verdicts, the worst of each holds', () => {
  fc.assert(
    fc.property(fc.array(results), (pieces) => {
      const fold = new ContentFilterFold()
      for (const content_filter_results of pieces) {
        fold.add({ choices: [{ index: 0, content_filter_results }] })
      }

      const { filtered, completion = {} } = fold.verdict()

      const hates = pieces.flatMap(({ hate }) => hate ?? [])
      const jailbreaks = pieces.flatMap(({ jailbreak }) => jailbreak ?? [])
      const all = [...hates, ...jailbreaks]
      const expected: AzureContentFilterResults = {
        ...(hates.length > 0 && {
          hate: {
            filtered: hates.some((each) => each.filtered),
            severity: scale[Math.max(...hates.map(({ severity }) => scale.indexOf(severity)))]!,
          },
        }),
        ...(jailbreaks.length > 0 && {
          jailbreak: {
            filtered: jailbreaks.some((each) => each.filtered),
            detected: jailbreaks.some((each) => each.detected),
          },
        }),
      }
      expect(completion).toEqual(expected)
      expect(filtered).toBe(all.some((each) => each.filtered))
    }),
  )
})

test('whatever stands where verdicts do, nothing throws', () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), fc.anything(), (prompts, choice, filters) => {
      const fold = new ContentFilterFold()

      fold.add({
        prompt_filter_results: [{ content_filter_results: prompts }, prompts],
        choices: [choice, { index: 0, content_filter_results: choice }],
        content_filters: [filters, { content_filter_results: { hate: filters } }],
      })
      fold.addReport(prompts)

      expect(fold.verdict().filtered).toBe(true)
    }),
  )
})
