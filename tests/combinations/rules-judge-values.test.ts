import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { Agent, jsonSchema, tool } from '../../packages/core/src/index.ts'
import { pii } from '../../packages/guardrail-pii/src/index.ts'
import type { ArgumentRule } from '../../packages/guardrail-tools/src/index.ts'
import { path, regex, shell, sql, toolPolicy } from '../../packages/guardrail-tools/src/index.ts'
import { callFunction, runIn, runModes, scriptedClient } from '../../packages/testing/src/index.ts'

// The model writes a placeholder and the tool gets the value of it, so rules judge the value.

const { parse } = createRequire(
  new URL('../../packages/guardrail-tools/package.json', import.meta.url),
)('libpg-query') as { parse: (text: string) => Promise<unknown> }

interface Case {
  readonly rule: ArgumentRule
  readonly written: (value: string) => unknown
  readonly good: string
  readonly bad: string
}

const cases: Readonly<Record<string, Case>> = {
  sql: {
    rule: sql({ dialect: 'postgresql', parse, tables: ['users'] }),
    written: (value) => `select id from users where mail = '${value}'`,
    good: 'ann@example.com',
    bad: "x' union select pw from secrets where '1' = '1",
  },
  path: {
    rule: path({ roots: ['/srv'] }),
    written: (value) => `/srv/${value}/notes.txt`,
    good: 'ann',
    bad: '../etc',
  },
  shell: {
    rule: shell({ allow: ['git log *'], deny: ['--output*'] }),
    written: (value) => ['git', 'log', value],
    good: 'main',
    bad: '--output=notes.txt',
  },
  regex: {
    rule: regex({ deny: /@evil\.example$/ }),
    written: (value) => value,
    good: 'ann@example.com',
    bad: 'eve@evil.example',
  },
}

describe.each(runModes)('a rule, %s', (mode) => {
  describe.each(['outside', 'inside'])('with the policy %s the vault', (place) => {
    test.each(Object.entries(cases))(`%s()`, async (_, { rule, written, good, bad }) => {
      expect(await rule.check(written('<DENIED_1>'))).toBeUndefined()

      for (const value of [good, bad]) {
        const got: unknown[] = []
        const use = tool({
          name: 'use',
          description: 'Uses a text.',
          parameters: jsonSchema({ type: 'object', properties: { text: {} } }),
          execute: ({ text }) => void got.push(text),
        })
        const policy = toolPolicy({ allow: ['use'], rules: { use: { text: rule } } })
        const vault = pii({ vault: true, deny: [good, bad] })
        const client = scriptedClient([
          callFunction('use', { text: written('<DENIED_1>') }),
          'Done.',
        ])
        const middleware = place === 'outside' ? [policy, vault] : [vault, policy]

        const agent = new Agent({ client, tools: [use], middleware })
        const { status } = await runIn(mode, agent, { input: `It is ${value} ` })

        expect([status, got]).toEqual(['completed', value === good ? [written(good)] : []])
      }
    })
  })
})
