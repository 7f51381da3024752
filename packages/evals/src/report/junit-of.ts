import type { Evaluation } from '../evaluation/evaluation.ts'

/** Draws evaluations as JUnit XML: a suite for each, with a test for each case and each score. */
export function junitOf(evaluations: readonly Evaluation[]): string {
  const suites = evaluations.map((evaluation) => {
    const { name, cases, scores, reasons } = evaluation
    const tests = [
      ...cases.map(({ id, failures }) => ({ name: id, problems: failures })),
      ...scores.map((score) => ({
        name: `score ${score.name}`,
        problems:
          score.verdict === 'failed' || score.verdict === 'worse'
            ? reasons.filter((reason) => reason.startsWith(`${score.name} `))
            : [],
      })),
    ]
    const failed = tests.filter(({ problems }) => problems.length > 0).length
    const lines = tests.map(({ name: test, problems }) => {
      const attributes = `classname="${xml(name)}" name="${xml(test)}"`
      if (problems.length === 0) return `    <testcase ${attributes}/>`
      const message = xml(problems.join('\n'))
      return `    <testcase ${attributes}><failure message="${message}"/></testcase>`
    })
    return [
      `  <testsuite name="${xml(name)}" tests="${tests.length}" failures="${failed}">`,
      ...lines,
      '  </testsuite>',
    ].join('\n')
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('\n')}\n</testsuites>\n`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
}

/** Text for an attribute, without the characters that XML 1.0 does not have. */
function xml(text: string): string {
  return text
    .replace(/[^\P{Cc}\n\t]|\p{Cs}|[\uFFFE\uFFFF]/gu, '')
    .replace(/[&<>"\n]/g, (character) => entities[character]!)
}
