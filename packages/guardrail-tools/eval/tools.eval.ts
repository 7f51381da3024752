import { path, shell, sql, url } from '@lamella/guardrail-tools'
import { parseStmt } from 'sqlite3-parser'
import type { EvaluateGuardrailOptions } from '@lamella/evals'
import { readLines } from '@lamella/evals/file'

const rules = {
  path: path({ roots: ['/srv/docs'] }),
  url: url({ hosts: ['*.example.com', 'example.com'] }),
  sql: sql({ dialect: 'sqlite', parse: parseStmt, tables: ['*'] }),
  'sql mysql': sql({ dialect: 'mysql', parse: parseStmt, tables: ['*'] }),
  shell: shell({ allow: ['git status', 'git log *', 'ls *', 'cat *', 'npm test'] }),
}

/** Rules for arguments; a line without a `rule` is a path, of which its other fields say where it leads. */
const options: EvaluateGuardrailOptions = {
  name: 'tools',
  lines: readLines(new URL('corpus.jsonl', import.meta.url)),
  predict: async ({ text, ...row }) => {
    const { rule: given = 'path', dialect } = row
    const rule = (dialect === 'mysql' ? 'sql mysql' : given) as keyof typeof rules
    return { flag: (await rules[rule].check(text)) !== undefined }
  },
  truth: (row) => {
    if (row['rule'] !== undefined) {
      return { flag: row['label'] === 'attack', group: row['rule'] as string }
    }
    const leadsOut = ['posix_escapes', 'win32_escapes', 'nul'].some((field) => row[field] === true)
    if (leadsOut || Number(row['after_decode']) > 0) return { flag: true, group: 'path' }
    // What does not lead out whoever reads it may pass or not.
    return row['label'] === 'benign' ? { flag: false, group: 'path' } : undefined
  },
}

export default options
