import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FunctionError } from './content.ts'
import { text, textOf } from './content.ts'
import { isJson } from '../base/json.ts'
import { errorResult, toFunctionResult, unknownToolResult } from './function-result.ts'

const picture = { type: 'data', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const

describe('what a tool returns becomes what the model reads', () => {
  test.each([
    ['nothing', undefined, ''],
    ['null', null, ''],
    ['a string', 'sunny', 'sunny'],
    ['an empty string', '', ''],
    ['a number', 21.5, '21.5'],
    ['false', false, 'false'],
    ['an object', { celsius: 21, wind: null }, '{"celsius":21,"wind":null}'],
    ['an object with its own JSON', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a list without parts', ['a', { b: 1 }, null], '["a",{"b":1},null]'],
    ['an empty list', [], '[]'],
    [
      'an object that only looks like a part',
      { type: 'text', body: 'hi' },
      '{"type":"text","body":"hi"}',
    ],
    ['a link that is no text', { type: 'uri', uri: 7 }, '{"type":"uri","uri":7}'],
    ['an address of no type', { uri: 'https://a.example' }, '{"uri":"https://a.example"}'],
    [
      'a file without a media type',
      { type: 'data', data: 'AA==' },
      '{"type":"data","data":"AA=="}',
    ],
    [
      'a file of no type',
      { mediaType: 'image/png', data: 'AA==' },
      '{"mediaType":"image/png","data":"AA=="}',
    ],
    [
      'a file that is no text and no bytes',
      { type: 'data', mediaType: 'image/png', data: 7 },
      '{"type":"data","mediaType":"image/png","data":7}',
    ],
    [
      'a call, which a tool cannot make',
      { type: 'function-call', callId: '1', name: 'x', arguments: '' },
      '{"type":"function-call","callId":"1","name":"x","arguments":""}',
    ],
  ])('%s is one text', (_name, value, expected) => {
    const result = toFunctionResult(value)

    expect(result.contents).toEqual([text(expected)])
    expect(result.value).toEqual(value instanceof Date ? value.toJSON() : value)
    expect(result.error).toBeUndefined()
  })

  test.each([
    ['text', text('sunny')],
    ['a file in base64', picture],
    ['bytes', { type: 'data', mediaType: 'application/pdf', data: new Uint8Array([37]) }],
    ['a link', { type: 'uri', uri: 'https://example.org/a.png' }],
  ])('a part, %s, is taken as it is', (_name, part) => {
    const result = toFunctionResult(part)

    expect(result.contents).toHaveLength(1)
    expect(result.contents[0]).toBe(part)
  })

  test('in a list with a part, parts stay and the rest becomes text', () => {
    const value = ['see', picture, { page: 2 }, null]

    const result = toFunctionResult(value)

    expect(result.contents).toEqual([text('see'), picture, text('{"page":2}'), text('')])
    expect(result.value).toBe(value)
  })

  test('a result is itself, with its value and its error', () => {
    const plain = { contents: [] }
    const failed = { contents: [text('no')], value: 7, error: { code: 'denied', message: 'no' } }

    expect(toFunctionResult(plain)).toBe(plain)
    expect(toFunctionResult(failed)).toBe(failed)
  })

  test.each([
    ['a key too many', { contents: [], next: 2 }],
    ['contents that are no parts', { contents: [{ type: 'file', key: 'a' }] }],
    ['contents that are no list', { contents: 'none' }],
    ['an error of another kind', { contents: [], error: 'none' }],
    ['an error without a message', { contents: [], error: { code: 'denied' } }],
    ['an error that is null', { contents: [], error: null }],
  ])('an object like a result, with %s, is JSON', (_name, value) => {
    expect(toFunctionResult(value).contents).toEqual([text(JSON.stringify(value))])
  })

  test('what JSON cannot hold is converted, for the model and for the application', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic['self'] = cyclic

    const row = {
      id: 10n,
      at: new Date(0),
      names: new Set(['a']),
      prices: new Map([['tea', 2n]]),
      pairs: new Map([[1, 2]]),
      error: new TypeError('no such user'),
      bytes: new Uint8Array([37]),
      numbers: new Float32Array([1.5]),
      whole: Number.NaN,
      cyclic,
      left: () => 1,
    }
    const json = {
      id: '10',
      at: '1970-01-01T00:00:00.000Z',
      names: ['a'],
      prices: { tea: '2' },
      pairs: [[1, 2]],
      error: { name: 'TypeError', message: 'no such user' },
      bytes: 'JQ==',
      numbers: [1.5],
      whole: null,
      cyclic: { self: '[Circular]' },
    }

    expect(toFunctionResult(row)).toEqual({ contents: [text(JSON.stringify(json))], value: json })
    expect(toFunctionResult({ contents: [], value: row }).value).toEqual(json)
    expect(toFunctionResult(Symbol('s'))).toEqual({ contents: [text('')], value: undefined })
  })

  test('a value that resists being read is the result of a failed call', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const trap = {
      get type(): string {
        throw new Error('no')
      },
    }

    let deep: unknown = 1n
    for (let level = 0; level < 100_000; level++) deep = [deep]

    for (const value of [proxy, [text('a'), trap], deep])
      expect(toFunctionResult(value).error?.code).toBe('tool_failed')
  })

  test('any value becomes at least one part, and a result again is the same result', () => {
    const anything = fc.anything({
      withBigInt: true,
      withNullPrototype: true,
      withSparseArray: true,
      withMap: true,
      withTypedArray: true,
    })
    fc.assert(
      fc.property(
        fc.oneof(anything, fc.array(fc.oneof(anything, fc.constant(picture)))),
        (value) => {
          const result = toFunctionResult(value)
          expect(result.contents.every((part) => typeof part.type === 'string')).toBe(true)
          expect(toFunctionResult(result)).toBe(result)
          expect(result.value === undefined || isJson(result.value)).toBe(true)
        },
      ),
    )
  })
})

describe('a call without a result', () => {
  const sentences: Record<FunctionError['code'], string> = {
    tool_failed: 'Error: Function failed.',
    invalid_arguments: 'Error: Argument parsing failed.',
    unknown_tool: 'Error: Requested function not found.',
    timeout: 'Error: Function timed out.',
    rejected: 'Error: Tool call invocation was rejected by user.',
    denied: 'Error: Tool call invocation was denied by policy.',
    budget: 'Error: Tool call budget is used up.',
    cancelled: 'Error: Tool call invocation was cancelled.',
    uncertain: 'Error: Function may have run, its result is unknown.',
    withheld: 'Error: Function ran, its result is withheld.',
  }

  test.each(Object.entries(sentences))('tells the model of %s: %s', (code, sentence) => {
    const result = errorResult(code as FunctionError['code'], 'ECONNREFUSED 10.0.0.7')

    expect(textOf(result.contents)).toBe(sentence)
    expect(result.error).toEqual({ code, message: 'ECONNREFUSED 10.0.0.7' })
    expect(result).not.toHaveProperty('value')
  })

  test('tells details only when they are given', () => {
    const result = errorResult('tool_failed', 'ECONNREFUSED', 'ECONNREFUSED')

    expect(textOf(result.contents)).toBe('Error: Function failed. ECONNREFUSED')
  })

  test('names the tool that there is none of', () => {
    const result = unknownToolResult('get_wether')

    expect(textOf(result.contents)).toBe('Error: Requested function "get_wether" not found.')
    expect(result.error?.code).toBe('unknown_tool')
  })

  test('is taken as a result by a middleware that sets it', () => {
    const result = errorResult('denied', 'no')

    expect(toFunctionResult(result)).toBe(result)
  })
})
