import { describe, expect, test } from 'vitest'
import { decodePath, isAbsolutePath, pathNames, pathOddity } from './read-path.ts'

const both = ['posix', 'win32'] as const

describe('the names of a path', () => {
  test.each([
    ['a/./b//c/', ['a', 'b', 'c'], ['a', 'b', 'c']],
    ['a/../b', ['b'], ['b']],
    ['/a', ['a'], ['a']],
    ['', [], []],
    ['a/../..', undefined, undefined],
    ['/..', undefined, undefined],
    ['a\\b', ['a\\b'], ['a', 'b']],
    ['a\\b/../..', undefined, []],
    ['a\\..\\..', ['a\\..\\..'], undefined],
    ['A/B. /c..', ['A', 'B. ', 'c..'], ['a', 'b', 'c']],
    ['. /..', [], undefined],
    [' /..', [], undefined],
    ['a/.. /b', ['a', '.. ', 'b'], undefined],
    ['a/ ../b', ['a', ' ..', 'b'], undefined],
    ['a/.../b', ['a', '...', 'b'], undefined],
    ['a/..;x/b', ['a', '..;x', 'b'], ['b']],
    ['a\u2215..\u29f8..', ['a\u2215..\u29f8..'], undefined],
    ['C:\\a', ['C:\\a'], ['c:', 'a']],
    ['C:/../a', ['a'], undefined],
    ['c:/../a', ['a'], undefined],
    ['C:/a/../b', ['C:', 'b'], ['c:', 'b']],
    ['C:../a', ['C:..', 'a'], undefined],
  ])('%j', (path, posix, win32) => {
    expect([pathNames(path, 'posix'), pathNames(path, 'win32')]).toEqual([posix, win32])
  })
})

test.each([
  ['a\0', 'control-character', 'control-character'],
  ['file:/etc', 'scheme', 'scheme'],
  ['~', 'home', 'home'],
  ['~root/.ssh', 'home', 'home'],
  ['~$report.docx', undefined, undefined],
  ['a~', undefined, undefined],
  ['a/con.txt', undefined, 'device'],
  ['a.txt::$DATA', undefined, 'device'],
  ['C:\\a:b', undefined, 'device'],
  ['C:\\a', undefined, undefined],
  ['console/auxiliary', undefined, undefined],
])('%j is odd: %s on posix, %s on Windows', (path, posix, win32) => {
  expect([pathOddity(path, ['posix']), pathOddity(path, both)]).toEqual([posix, win32])
})

test.each([
  ['a%20b', 'a b'],
  ['%252e', '%2e'],
  ['%c0%ae%c1%9c', '.\\'],
  ['%e0%80%ae', '.'],
  ['%u002e%u2215%uff3c', './\\'],
  ['100%', '100%'],
])('one round makes of %j %j', (text, decoded) => {
  expect(decodePath(text)).toBe(decoded)
})

test('a backslash and a drive make a path absolute on Windows only', () => {
  const paths = ['/a', '\\a', 'C:\\a', 'a/b', '']

  expect(paths.map((path) => isAbsolutePath(path, ['posix']))).toEqual([
    true,
    false,
    false,
    false,
    false,
  ])
  expect(paths.map((path) => isAbsolutePath(path, both))).toEqual([true, true, true, false, false])
})
