// Prints the closing line of CI from what the test runner wrote down, and right before it what failed, since
// the end of a log is what is kept of it.
// usage: node scripts/count-results.mjs <vitest.json> <exit code of the tests> <exit code of the checks>
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const [file, tests, check] = process.argv.slice(2)
const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
const { numPassedTests = 0, testResults = [] } = text ? JSON.parse(text) : {}

const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
  const path = relative(process.cwd(), name)
  const failed = assertionResults.filter((test) => test.status === 'failed')
  // A file that does not load fails without a failed test in it.
  if (status === 'failed' && failed.length === 0)
    return [failure(`${path}: does not load`, message)]
  return failed.map((test) => failure(`${path} > ${test.fullName}`, test.failureMessages[0]))
})
if (failures.length === 0 && tests !== '0') failures.push(`FAILED the tests ended with ${tests}`)
if (check !== '0')
  failures.push(`FAILED the checks ended with ${check}; the table above says which`)

for (const line of failures) console.log(line)
console.log(`${numPassedTests} passed, ${failures.length} failed`)
process.exit(failures.length === 0 ? 0 : 1)

/** The name of what failed, with the first lines of its error. */
function failure(name, message = '') {
  const lines = stripVTControlCharacters(message).split('\n')
  const first = lines.filter((line) => line.trim() && !line.includes('node_modules')).slice(0, 4)
  return [`FAILED ${name}`, ...first.map((line) => `  ${line.slice(0, 300)}`)].join('\n')
}
