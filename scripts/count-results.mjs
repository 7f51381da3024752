// Prints the closing line of CI from what the test runner wrote down.
// usage: node scripts/count-results.mjs <vitest.json> <exit code of the tests> <exit code of the checks>
import { readFileSync } from 'node:fs'

const [file, tests, check] = process.argv.slice(2)
const text = readFileSync(file, 'utf8')
const { numPassedTests = 0, numFailedTests = 0, testResults = [] } = text ? JSON.parse(text) : {}

// A file that does not load fails without a failed test in it.
const unloaded = testResults.filter(
  ({ status, assertionResults }) =>
    status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
)
let failed = numFailedTests + unloaded.length
if (failed === 0 && tests !== '0') failed++
if (check !== '0') failed++

console.log(`${numPassedTests} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
