// Prints the closing line of CI from what the test runner wrote down, and right before it what failed, since
// the end of a log is what is kept of it.
// usage: node scripts/count-results.mjs <exit code of the checks> <vitest.json>=<exit code of these tests>...
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const [check, ...runs] = process.argv.slice(2)
let passed = 0
const failures = runs.flatMap((run) => {
  const [, file, code] = /^(.*)=(\d+)$/.exec(run)
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const { numPassedTests = 0, testResults = [] } = text ? JSON.parse(text) : {}
  passed += numPassedTests
  const found = testResults.flatMap(failuresOf)
  return found.length === 0 && code !== '0' ? [`FAILED the tests ended with ${code}`] : found
})
if (check !== '0')
  failures.push(`FAILED the checks ended with ${check}; the table above says which`)

for (const line of failures) console.log(line)
console.log(`${passed} passed, ${failures.length} failed`)
process.exit(failures.length === 0 ? 0 : 1)

function failuresOf({ name, status, message, assertionResults }) {
  const path = relative(process.cwd(), name)
  const failed = assertionResults.filter((test) => test.status === 'failed')
  // A file that does not load fails without a failed test in it.
  if (status === 'failed' && failed.length === 0)
    return [failure(`${path}: does not load`, message)]
  return failed.map((test) => failure(`${path} > ${test.fullName}`, test.failureMessages[0]))
}

/** The name of what failed, with the first lines of its error. */
function failure(name, message = '') {
  const lines = stripVTControlCharacters(message).split('\n')
  const first = lines.filter((line) => line.trim() && !line.includes('node_modules')).slice(0, 4)
  return [`FAILED ${name}`, ...first.map((line) => `  ${line.slice(0, 300)}`)].join('\n')
}
