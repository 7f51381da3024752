import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'lamella-results-'))
const program = join(import.meta.dirname, 'count-results.mjs')

afterAll(() => rmSync(folder, { recursive: true }))

describe('the closing lines of CI', () => {
  it('name each failed test and file right before the counts', () => {
    const { lines, status } = closing(
      {
        numPassedTests: 3,
        testResults: [
          {
            name: join(process.cwd(), 'packages/core/src/a.test.ts'),
            status: 'failed',
            message: '',
            assertionResults: [
              { status: 'passed', fullName: 'a run ends', failureMessages: [] },
              {
                status: 'failed',
                fullName: 'a run waits',
                failureMessages: ['\u001B[31mError: too late\n\n    at /node_modules/x.js'],
              },
            ],
          },
          {
            name: join(process.cwd(), 'packages/core/src/b.test.ts'),
            status: 'failed',
            message: "Cannot find module './c.ts'",
            assertionResults: [],
          },
        ],
      },
      '1',
      '0',
    )

    expect(lines).toEqual([
      'FAILED packages/core/src/a.test.ts > a run waits',
      '  Error: too late',
      'FAILED packages/core/src/b.test.ts: does not load',
      "  Cannot find module './c.ts'",
      '3 passed, 2 failed',
    ])
    expect(status).toBe(1)
  })

  it('say that a runner which wrote nothing, and checks which did not pass, have failed', () => {
    const { lines, status } = closing(undefined, '137', '1')

    expect(lines).toEqual([
      'FAILED the tests ended with 137',
      'FAILED the checks ended with 1; the table above says which',
      '0 passed, 2 failed',
    ])
    expect(status).toBe(1)
  })

  it('are the counts alone when all is well', () => {
    expect(closing({ numPassedTests: 9, testResults: [] }, '0', '0')).toEqual({
      lines: ['9 passed, 0 failed'],
      status: 0,
    })
  })
})

function closing(results: object | undefined, tests: string, check: string) {
  const file = join(folder, 'results.json')
  writeFileSync(file, results === undefined ? '' : JSON.stringify(results))
  const { stdout, status } = spawnSync(process.execPath, [program, check, `${file}=${tests}`], {
    encoding: 'utf8',
  })
  return { lines: stdout.trimEnd().split('\n'), status }
}
