import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canonicalJson } from '@lamella/core/authoring'
import * as fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { bytes } from '../audit.test-helper.ts'
import { AuditChain, sha256, unchainedRecord } from '../record/audit-chain.ts'
import type { AuditRecord } from '../record/audit-record.ts'
import { runCommand } from './command.ts'
import { verify } from './verify.ts'

const time = '2026-01-01T00:00:00.000Z'

function linesOf(count: number, signing?: ConstructorParameters<typeof AuditChain>[0]): string[] {
  const chain = new AuditChain(signing)
  return Array.from({ length: count }, (_, index) => {
    const facts = { run: `r${index}`, input: 'é"\\ 😀', usage: { inputTokens: index } }
    return chain.next(unchainedRecord(index % 2 ? 'run.end' : 'run.start', time, facts)).line
  })
}
const textOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')
const check = (lines: readonly string[], options = {}) => verify(bytes(textOf(lines)), options)

/** Forges a record with all knowledge but the key. */
function forged(line: string, changes: Partial<AuditRecord>): string {
  const { hash: _hash, ...record } = { ...(JSON.parse(line) as AuditRecord), ...changes }
  return ended(canonicalJson(record))
}
/** Text with the hash that it has. */
const ended = (text: string) => `${text.slice(0, -1)},"hash":"${sha256(text)}"}`
const hashOf = (line: string) => (JSON.parse(line) as AuditRecord).hash

describe('a log that is as it was written', () => {
  it('verifies, however its bytes are cut', async () => {
    const text = Buffer.from(textOf(linesOf(20)))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(text.length), { maxLength: 20 }), async (cuts) => {
        const edges = [0, ...cuts.toSorted((left, right) => left - right), text.length]
        const chunks = edges.slice(1).map((edge, index) => text.subarray(edges[index], edge))
        expect(await verify(bytes(...chunks))).toMatchObject({ ok: true, lines: 20 })
      }),
      { numRuns: 50 },
    )
  })

  it('verifies if it is empty', async () => {
    expect(await verify(bytes())).toEqual({ ok: true, lines: 0, head: undefined })
  })

  it('verifies with whatever is in its records', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.dictionary(fc.string(), fc.jsonValue())), async (all) => {
        const chain = new AuditChain({ keyId: 'k', key: 'secret' })
        const lines = all.map((facts) => chain.next(unchainedRecord('decision', time, facts)).line)
        expect(await check(lines, { keys: { k: 'secret' } })).toMatchObject({
          ok: true,
          lines: all.length,
        })
      }),
      { numRuns: 100 },
    )
  })
})

describe('the first line that is not as it was written', () => {
  it('is found for every change of a single byte', async () => {
    for (const signing of [undefined, { keyId: 'k', key: 'secret' }]) {
      const lines = linesOf(4, signing)
      const text = Buffer.from(textOf(lines))
      const ends = lines.reduce<number[]>(
        (all, line) => [...all, (all.at(-1) ?? 0) + Buffer.from(line).length + 1],
        [],
      )
      for (let at = 0; at < text.length; at++) {
        const line = ends.findIndex((end) => at < end) + 1
        for (const flip of [1, 0x80, text[at]! ^ 10, text[at]! ^ 32]) {
          if (flip === 0) continue
          const changed = Buffer.from(text)
          changed[at]! ^= flip
          const { ok, problem, lines: verified } = await verify(bytes(changed))
          expect([at, flip, ok, problem?.line, verified]).toEqual([at, flip, false, line, line - 1])
        }
      }
    }
  })

  it('is found if a line was altered and its hash made anew', async () => {
    const lines = linesOf(6)
    lines[2] = forged(lines[2]!, { type: 'run.error' })

    expect(await check(lines)).toMatchObject({ ok: false, problem: { line: 3, kind: 'altered' } })
  })

  it.each([
    [[0], 1],
    [[3], 4],
    [[2, 3, 4], 3],
  ])('is found if lines were removed: %j', async (removed, line) => {
    const lines = linesOf(8).filter((_, index) => !removed.includes(index))

    expect(await check(lines)).toMatchObject({
      ok: false,
      lines: line - 1,
      problem: { line, kind: 'removed' },
    })
  })

  it.each([
    ['a line of something else', () => 'hello'],
    ['an empty line', () => ''],
    ['a copy of a line', (lines: string[]) => lines[0]!],
    ['the same line twice', (lines: string[]) => lines[2]!],
    ['a line of another log', () => linesOf(1)[0]!],
    [
      'a line made to follow',
      (lines: string[]) => forged(lines[3]!, { prev: hashOf(lines[2]!), type: 'decision' }),
    ],
  ])('is found if a line was inserted: %s', async (_, make) => {
    const lines = linesOf(6)
    lines.splice(3, 0, make(lines))

    expect(await check(lines)).toMatchObject({ ok: false, problem: { line: 4, kind: 'inserted' } })
  })

  it('is found if several lines were made to follow', async () => {
    const lines = linesOf(6)
    const first = forged(lines[3]!, { type: 'decision' })
    const second = forged(lines[4]!, { prev: hashOf(first), type: 'decision' })
    lines.splice(3, 0, first, second)

    expect(await check(lines)).toMatchObject({ ok: false, problem: { line: 4, kind: 'inserted' } })
  })

  it('is found if lines changed places', async () => {
    const lines = linesOf(6)
    const [third, fourth] = [lines[2]!, lines[3]!]
    lines.splice(2, 2, fourth, third)

    expect(await check(lines)).toMatchObject({ ok: false, lines: 2, problem: { line: 3 } })
  })

  it('is found if the end was cut off, by what was kept of it', async () => {
    const lines = linesOf(6)
    const last = hashOf(lines[5]!)

    expect(await check(lines, { last })).toMatchObject({ ok: true })
    expect(await check(lines.slice(0, 4))).toMatchObject({ ok: true, lines: 4 })
    expect(await check(lines.slice(0, 4), { last })).toMatchObject({
      ok: false,
      problem: { line: 5, kind: 'removed' },
    })
  })

  it('is incomplete if it has no end, and all before it counts', async () => {
    const text = textOf(linesOf(5))

    for (const cut of [1, 2, 50]) {
      expect(await verify(bytes(text.slice(0, -cut)))).toMatchObject({
        ok: false,
        lines: 4,
        head: { seq: 4 },
        problem: { line: 5, kind: 'incomplete' },
      })
    }
  })

  it('is found in hostile JSON without harm', async () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000)
    for (const line of [deep, '{"__proto__":{"hash":"x"}}', 'null', '7', '{"hash":7}', '[]']) {
      expect(await check([line])).toMatchObject({
        ok: false,
        problem: { line: 1, kind: 'altered' },
      })
    }
  })
})

describe('signatures', () => {
  const ed25519 = generateKeyPairSync('ed25519')

  it('are verified by their keys, also after a key was changed', async () => {
    const old = linesOf(2, { keyId: 'old', key: 'first secret' })
    const { chain, seq, hash } = JSON.parse(old[1]!) as AuditRecord
    const next = new AuditChain({ keyId: 'new', key: ed25519.privateKey }, { chain, seq, hash })
    const lines = [...old, next.next(unchainedRecord('run.start', time, {})).line]
    const keys = { old: 'first secret', new: ed25519.publicKey }

    expect(await check(lines, { keys })).toMatchObject({ ok: true, lines: 3 })
    expect(await check(lines)).toMatchObject({ ok: true, lines: 3 })
    expect(await check(lines, { keys: { old: 'first secret' } })).toMatchObject({
      ok: false,
      problem: { line: 3, kind: 'altered', message: expect.stringContaining('"new"') as string },
    })
  })

  it('do not hold for a line that says more than was signed', async () => {
    const [line] = linesOf(1, { keyId: 'k', key: 'secret' })
    const { hash: _hash, ...signed } = JSON.parse(line!) as AuditRecord
    const twice = ended(`{"type":"run.blocked",${canonicalJson(signed).slice(1)}`)

    expect(await check([line!], { keys: { k: 'secret' } })).toMatchObject({ ok: true })
    expect(await check([twice], { keys: { k: 'secret' } })).toMatchObject({
      ok: false,
      problem: { line: 1, message: 'its signature is not right' },
    })
  })

  it('show who could rewrite the whole log', async () => {
    const forger = linesOf(3, { keyId: 'k', key: 'guessed' })

    expect(await check(forger, { keys: { k: 'secret' } })).toMatchObject({
      ok: false,
      lines: 0,
      problem: { line: 1, kind: 'altered', message: 'its signature is not right' },
    })
    expect(await check(linesOf(3), { keys: { k: 'secret' } })).toMatchObject({
      problem: { line: 1, message: 'it is not signed' },
    })
  })
})

describe('a hash that was kept while the log grew', () => {
  const lines = linesOf(6, { keyId: 'k', key: 'secret' })
  const kept = [hashOf(lines[1]!), hashOf(lines[3]!)]

  it('is that of a line', async () => {
    expect(await check(lines, { includes: kept })).toMatchObject({ ok: true, lines: 6 })
  })

  it('is missing where lines were cut off before the log continued', async () => {
    const again = new AuditChain(
      { keyId: 'k', key: 'secret' },
      JSON.parse(lines[2]!) as AuditRecord,
    )
    const other = [
      ...lines.slice(0, 3),
      again.next(unchainedRecord('run.end', time, { run: 'other' })).line,
    ]

    expect(await check(other)).toMatchObject({ ok: true, lines: 4 })
    expect(await check(other, { includes: kept })).toMatchObject({
      ok: false,
      problem: { line: 5, kind: 'removed' },
    })
  })
})

describe('the command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lamella-verify-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  const run = async (...args: string[]) => {
    let printed = ''
    const write = (text: string) => void (printed += text)
    return [await runCommand(args, { out: write, err: write }), printed] as const
  }

  it('says that a log is as it was written, over several files', async () => {
    const lines = linesOf(5)
    const first = file('1.jsonl', textOf(lines.slice(0, 2)))
    const second = file('2.jsonl', textOf(lines.slice(2)))

    expect(await run('verify', first, second)).toEqual([
      0,
      `ok: 5 lines verified, last hash ${hashOf(lines[4]!)}\n`,
    ])
    expect((await run('verify', '--last', hashOf(lines[4]!), first, second))[0]).toBe(0)
  })

  it('says which line is not, and ends with 1', async () => {
    const lines = linesOf(5).filter((_, index) => index !== 2)
    const path = file('removed.jsonl', textOf(lines))

    const [code, printed] = await run('verify', path)
    const [, json] = await run('verify', '--json', path)

    expect(code).toBe(1)
    expect(printed).toMatch(
      /^line 3 shows that lines were removed: record 3 is missing before it\n2 lines verified/,
    )
    expect(JSON.parse(json)).toMatchObject({ ok: false, problem: { line: 3, kind: 'removed' } })
  })

  it('takes keys from files', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const path = file('signed.jsonl', textOf(linesOf(2, { keyId: 'k', key: privateKey })))
    const pem = file('k.pem', publicKey.export({ type: 'spki', format: 'pem' }).toString())
    const secret = file('k.txt', 'another secret\n')

    expect((await run('verify', '--key', `k=${pem}`, path))[0]).toBe(0)
    expect((await run('verify', '--key', `k=${secret}`, path))[0]).toBe(1)
  })

  const hostile = (body: object) => {
    const facts = { chain: 'c', prev: '0'.repeat(64), seq: 1, time: 't', type: 'run.start', v: 1 }
    return ended(canonicalJson({ ...facts, ...body }))
  }
  const nested = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)},"chain":"c","prev":"${'0'.repeat(64)}","seq":1,"sig":{"key":"k","value":"x"},"v":1}`

  it.each([
    ['a signature that is null', hostile({ sig: null })],
    ['a signature that is a number', hostile({ sig: 1 })],
    ['a key of another type', hostile({ sig: { key: 1, value: 'x' } })],
    ['the name of a prototype', hostile({ sig: { key: '__proto__', value: 'x' } })],
    ['a value of another type', hostile({ sig: { key: 'k', value: {} } })],
    ['escapes', hostile({ sig: { key: '\u001b[2K\u009b1G\u202eok: 4711 lines\n', value: 'x' } })],
    ['200,000 levels', ended(nested)],
    ['NULs', '\0'.repeat(1000)],
    ['nothing', ''],
  ])('ends with 1 for a file with %s, and prints no control characters', async (name, line) => {
    const path = file('hostile.jsonl', line === '' ? '' : `${line}\n`)
    const key = file('hostile.txt', 'a secret\n')

    const [code, printed] = await run('verify', '--key', `k=${key}`, path)

    expect(`${name} ${code}`).toBe(`${name} 1`)
    expect(printed).not.toMatch(/[^\P{C}\n]/u)
    expect(printed).not.toMatch(/^ok/m)
  })

  it('asks for hashes that were kept', async () => {
    const lines = linesOf(3)
    const path = file('kept.jsonl', textOf(lines))

    expect((await run('verify', '--includes', hashOf(lines[0]!), path))[0]).toBe(0)
    expect((await run('verify', '--includes', '0'.repeat(64), path))[0]).toBe(1)
  })

  it('ends with 2 where it cannot read, and says how it is used', async () => {
    expect((await run('verify', join(folder, 'missing')))[0]).toBe(2)
    expect(await run('verify')).toMatchObject([2, expect.stringContaining('lamella-audit verify')])
    expect((await run('verify', '--what'))[0]).toBe(2)
    expect((await run('verify', '--key', 'k', 'file'))[0]).toBe(2)
    expect((await run('--help'))[0]).toBe(0)
  })
})
