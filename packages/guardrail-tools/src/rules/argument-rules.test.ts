import { describe, expect, test } from 'vitest'
import type { ArgumentRule } from './argument-rule.ts'
import { ask, maxLength, oneOf, range, regex, valuesAt } from './argument-rule.ts'
import { nameGlob } from './name-glob.ts'
import { path } from './path-rule.ts'
import { shell } from './shell-rule.ts'
import { url } from './url-rule.ts'

function expectRule(
  rule: ArgumentRule,
  right: readonly unknown[],
  wrong: readonly unknown[],
): void {
  const passed = [...right, ...wrong].filter((value) => rule.check(value) === undefined)
  expect(passed).toEqual(right)
}

describe('path', () => {
  test('stays within its folders', () => {
    expectRule(
      path({ roots: ['/srv/docs', '/tmp/a'] }),
      [
        'a.md',
        'a/../b.md',
        './a/./b.md',
        '/srv/docs/a.md',
        '/tmp/a/x',
        '../docs/a.md',
        '[...404].tsx',
        '100% sure.md',
        'foo..bar',
        'می\u200Cروم.md',
      ],
      [
        '',
        7,
        '..',
        '../x',
        'a/../../x',
        '/etc/passwd',
        '/srv/docs2/x',
        '/srv/docs/../x',
        '/SRV/docs/x',
        '//srv/docs/x',
        'x\\y/../../x',
        '. /../x',
        '..\\x',
        'C:\\..\\srv\\docs\\x',
        'C:\\x',
        'c:x',
        '\\\\host\\share',
        '%2e%2e/x',
        '%252e%252e%252fx',
        '%c0%ae%c0%ae/x',
        '．．／x',
        '..;/x',
        '.. /x',
        '.../x',
        '.\u200B./x',
        '..\u00AD/x',
        '%2e%E2%80%8B%2e/x',
        '\u202E../x',
        '/srv/x/.\u200B./docs/a.md',
        '~/x',
        'file:///etc/passwd',
        'a\0.md',
        'NUL',
        'a.txt::$DATA',
        '%2525252525252e',
      ],
    )
  })

  test('folders may be on a drive, or of a share', () => {
    expectRule(
      path({ roots: ['C:\\docs'] }),
      ['a.md', 'C:\\docs\\a.md', 'c:/DOCS/a.md'],
      ['C:\\docs2\\a.md', 'D:\\docs\\a.md', 'C:..\\docs\\a.md', 'C:\\docs\\..\\a.md'],
    )
    expectRule(
      path({ roots: ['\\\\host\\share'] }),
      ['a.md', '\\\\host\\share\\a.md'],
      ['\\host\\share\\a.md', '\\\\host\\other\\a.md', '..\\other\\a.md'],
    )
  })

  test('relative folders are below where the tool stands', () => {
    expectRule(
      path({ roots: ['docs'], base: '.', extensions: ['.md'] }),
      ['docs/a.md', './docs/x/../a.MD'],
      ['a.md', 'docs/../a.md', '/docs/a.md', 'docs/a.exe', '../docs/a.md'],
    )
  })

  test('on posix a backslash is a character', () => {
    expectRule(
      path({ roots: ['/srv'], platform: 'posix' }),
      ['a\\..\\..\\b', '12:30', 'aux', '...', 'A'],
      ['../x', '%2e%2e/x', '.\u200B./x'],
    )
  })
})

test('url: certain hosts, and no address of a private network', () => {
  expectRule(
    url({ hosts: ['api.example.com', '*.example.org'] }),
    ['https://api.example.com/x?y', 'https://API.example.com.', 'https://a.b.example.org/'],
    [
      'http://api.example.com',
      'https://example.org',
      'https://api.example.com@evil.com',
      'https://api.example.com.evil.com',
      'https://evil.com/api.example.com',
      'https://api.example.com:8443/',
      'https://user@api.example.com/',
      '//api.example.com',
      'javascript:alert(1)',
      'https:\\\\evil.com\\@api.example.com',
      'https://api.example.com\\@evil.com/',
      'https://api.example.com/\r\nX: y',
      ' https://api.example.com/',
      'https://api.exa\tmple.com/',
      null,
    ],
  )
  const anywhere = url({ hosts: ['*'], schemes: ['http', 'https'], ports: [80, 443] })
  expectRule(
    anywhere,
    ['http://example.com:80/', 'https://8.8.8.8/', 'https://[2606:4700::1111]/'],
    [
      'http://localhost/',
      'http://127.0.0.1/',
      'http://2130706433/',
      'http://0x7f.1/',
      'http://0177.0.0.1/',
      'http://１２７.0.0.1/',
      'http://169.254.169.254/latest',
      'http://10.0.0.1/',
      'http://172.31.0.1/',
      'http://192.168.1.1/',
      'http://100.64.0.1/',
      'http://0.0.0.0/',
      'http://[::1]/',
      'http://[::ffff:127.0.0.1]/',
      'http://[fd00::1]/',
      'http://[fe80::1]/',
      'http://db.internal/',
      'http://redis/',
      'http://router.lan/',
      'http://localhost../',
      'http://kubernetes.default.svc/',
      'http://168.63.129.16/',
      'http://[2001::1]/',
      'http://[::7f00:1]/',
      'http://[64:ff9b::a00:1]/',
      'http://example.com:22/',
    ],
  )
  expectRule(
    url({ hosts: ['redis', '10.0.0.1', '*'], schemes: ['http'] }),
    ['http://redis/', 'http://10.0.0.1/', 'http://example.com/'],
    ['http://10.0.0.2/', 'http://postgres/'],
  )
  expectRule(
    url({ hosts: ['localhost'], schemes: ['http'], ports: [3000], allowPrivate: true }),
    ['http://localhost:3000/'],
    ['http://localhost/'],
  )
})

test('shell: one plain command of a list', () => {
  expectRule(
    shell({ allow: ['git status', 'git log *', 'ls *', 'echo *'], deny: ['--output*', '-exec'] }),
    [
      'git status',
      ' git  status ',
      'git log --oneline -n 5',
      'ls',
      'echo \'a; b $x\' "c d"',
      ['ls', '-l', 'a;b'],
    ],
    [
      'git push',
      'git status --short',
      'git log --output=/tmp/x',
      'ls; rm -rf /',
      'ls && id',
      'ls | sh',
      'ls `id`',
      'ls $(id)',
      'ls $HOME',
      'ls > /etc/x',
      'ls\nid',
      'ls "$(id)"',
      "ls 'open",
      'ls \\; id',
      'ls {a,b}',
      'ls *',
      'ls ~root',
      'FOO=1 ls',
      '/bin/ls',
      '',
      ['ls', 7],
      {},
    ],
  )
})

test('numbers, choices, forms and lengths', () => {
  expectRule(range({ min: 1, max: 10 }), [1, 10, 2.5], [0, 11, '5', Number.NaN, null])
  expectRule(oneOf('a', 2), ['a', 2], ['b', '2'])
  expectRule(regex({ match: /^[a-z]+$/g, deny: /x/y }), ['abc', 'abc'], ['ax', 'xa', 'A', 5])
  expectRule(maxLength(3), ['abc', [1]], ['abcd', 7, undefined])
  expect(ask(range({ max: 1 })).otherwise).toBe('ask')
})

test('values are found at paths, and only own ones', () => {
  const args = { to: 'a', files: [{ name: 'x' }, { name: 'y' }], ['__proto__x']: 1 }

  expect(valuesAt(args, 'files.*.name')).toEqual(['x', 'y'])
  expect(valuesAt(args, 'to')).toEqual(['a'])
  expect(valuesAt(args, 'constructor.name')).toEqual([])
  expect(valuesAt(args, 'to.length')).toEqual([])
})

test.each([
  ['files_*', ['files_read', 'files_'], ['file', 'my_files_read']],
  ['*', ['', 'a'], []],
  ['*_read', ['a_read', '_read'], ['read', 'a_read_b']],
  ['a*b*c', ['abc', 'aXbYc', 'abbc'], ['acb', 'ab', 'abcd']],
  ['get_?', ['get_a'], ['get_', 'get_ab']],
  ['a.b', ['a.b'], ['axb']],
])('the glob %s', (glob, right, wrong) => {
  expect([...right, ...wrong].filter(nameGlob([glob]))).toEqual(right)
})

test.each([() => path({ roots: [] }), () => url({ hosts: [] }), () => shell({ allow: [] })])(
  'a rule without anything that it allows is none',
  (make) => {
    expect(make).toThrow(/must be a list, got/)
  },
)
