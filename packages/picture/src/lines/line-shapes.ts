import { jsonSchema } from '@lamella/core'
import type { Line } from './line.ts'

const text = { type: 'string' } as const
const number = { type: 'number' } as const
/** Numbers of calls, probes, messages and repetitions. */
const count = { type: 'integer', minimum: 0, maximum: 1_000_000_000 } as const
/** Number of a probe: there are as many as there is middleware. */
const probe = { type: 'integer', minimum: 0, maximum: 10_000 } as const
const counts = { type: 'array', items: count } as const
const part = { $ref: '#/$defs/part' } as const
const parts = { type: 'array', items: part } as const
const facts = { type: 'object', properties: { len: number, text } } as const
const usage = { type: 'object', additionalProperties: number } as const
const names = {
  type: 'array',
  items: { type: 'object', properties: { name: text, role: text }, required: ['name'] },
} as const

/** Fields of the lines of each kind that readers rely on, and which must be there. */
const shapes: Readonly<Record<Line['k'], readonly [fields: object, required: readonly string[]]>> =
  {
    run: [
      {
        v: { const: 1 },
        id: text,
        agent: text,
        at: text,
        parent: { type: 'object', properties: { r: count, c: count }, required: ['r'] },
        stream: { type: 'boolean' },
        capture: { enum: ['facts', 'redacted', 'full'] },
        level: { enum: ['agent', 'chat'] },
        middleware: {
          type: 'object',
          properties: { agent: names, chat: names, function: names },
          required: ['agent', 'chat', 'function'],
        },
        tools: { type: 'array', items: text },
        provider: text,
        client: text,
        model: text,
      },
      ['v', 'middleware', 'tools', 'level'],
    ],
    call: [
      {
        c: count,
        type: { enum: ['run', 'model', 'tool'] },
        iteration: number,
        name: text,
        fn: count,
      },
      ['c', 'type'],
    ],
    msg: [{ m: count, role: text, parts }, ['m', 'role', 'parts']],
    tool: [{ name: text, description: text }, ['name']],
    in: [
      {
        c: count,
        p: probe,
        n: count,
        messages: { type: 'object', properties: { same: count, rest: counts }, required: ['same'] },
        instructions: { ...facts, type: ['object', 'null'] },
        options: { type: 'object' },
        client: text,
        args: facts,
      },
      ['c', 'p'],
    ],
    up: [
      {
        c: count,
        p: probe,
        to: probe,
        run: probe,
        text,
        len: number,
        parts,
        role: text,
        finish: text,
        usage,
        restart: { enum: ['call', 'run'] },
      },
      ['c', 'p'],
    ],
    again: [{ c: count, p: probe }, ['c', 'p']],
    out: [
      {
        c: count,
        p: probe,
        n: count,
        exit: text,
        error: text,
        message: facts,
        status: number,
        finish: text,
        model: text,
        usage,
        cost: number,
        messages: counts,
        result: parts,
      },
      ['c', 'p'],
    ],
    event: [
      {
        type: text,
        facts: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
      },
      ['type'],
    ],
    end: [
      {
        status: text,
        usage,
        cost: number,
        attempts: number,
        block: { type: 'object', additionalProperties: text },
        reason: facts,
        error: text,
        dropped: number,
      },
      ['status', 'usage'],
    ],
  }

const $defs = {
  part: {
    type: 'object',
    properties: {
      type: text,
      len: number,
      text,
      name: text,
      fn: count,
      error: text,
      mediaType: text,
      bytes: number,
      index: number,
      parts,
    },
    required: ['type'],
  },
}

const schemas = new Map(
  Object.entries(shapes).map(([kind, [fields, required]]) => [
    kind,
    jsonSchema({
      type: 'object',
      properties: { t: number, r: count, ...fields },
      required: ['t', 'r', ...required],
      $defs,
    }),
  ]),
)

/** Tells whether a line of a known kind has the shape that readers rely on. Other kinds are skipped by them. */
export function hasShape(line: { readonly k: string }): boolean {
  const result = schemas.get(line.k)?.['~standard'].validate(line)
  return result === undefined || (!(result instanceof Promise) && result.issues === undefined)
}
