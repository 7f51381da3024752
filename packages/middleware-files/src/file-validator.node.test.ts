import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import type { AgentResponse, Content, FunctionInvocationContext, MessageInput } from '@lamella/core'
import { Agent, functionMiddleware, jsonSchema, tool } from '@lamella/core'
import type { RunMode } from '@lamella/testing'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { afterAll, describe, expect, it } from 'vitest'
import type { FileEvent, FileValidatorOptions, PathOptions } from './index.ts'
import { fileValidator } from './index.ts'

const folder = mkdtempSync(join(tmpdir(), 'lamella-files-'))
const root = join(folder, 'root')
const outside = join(folder, 'outside')
mkdirSync(join(root, 'docs'), { recursive: true })
mkdirSync(outside)
writeFileSync(join(root, 'docs', 'a.md'), 'a')
writeFileSync(join(root, 'big.md'), 'x'.repeat(100))
writeFileSync(join(root, 'run.sh'), 'x')
writeFileSync(join(outside, 'secret.md'), 'secret')
symlinkSync(outside, join(root, 'link'))
symlinkSync(join(root, 'docs'), join(root, 'inner'))
symlinkSync(join(root, 'run.sh'), join(root, 'script.md'))
symlinkSync(folder, join(folder, 'self'))
symlinkSync(join(outside, 'not-there.md'), join(root, 'dangling.md'))
symlinkSync(join(outside, 'no-folder'), join(root, 'dangling'))
afterAll(() => rmSync(folder, { recursive: true }))

async function call(
  mode: RunMode,
  args: Record<string, unknown>,
  options: FileValidatorOptions,
  { readOnly = true, result = 'read' }: { readOnly?: boolean; result?: unknown } = {},
): Promise<{ seen: unknown[]; text: string; response: AgentResponse }> {
  const seen: unknown[] = []
  const read = tool({
    name: 'read',
    description: '',
    parameters: jsonSchema({ type: 'object' }),
    readOnly,
    execute: (given) => {
      seen.push(given)
      return result
    },
  })
  const client = scriptedClient([callFunction('read', args), 'Done.'])
  const agent = new Agent({ client, tools: [read], middleware: fileValidator(options) })
  const response = await runIn(mode, agent)
  return { seen, text: JSON.stringify(client.requests[1]?.messages.at(-1) ?? ''), response }
}

describe.each(runModes)('paths in arguments, %s', (mode) => {
  const judged = async (path: unknown, paths: Partial<PathOptions> = {}, readOnly = true) => {
    const events: FileEvent[] = []
    const options = {
      paths: { roots: [root], ...paths },
      onEvent: (event: FileEvent) => void events.push(event),
    }
    const { seen, text } = await call(mode, { path }, options, { readOnly })
    return {
      used: (seen[0] as { path?: unknown } | undefined)?.path,
      refused: events[0]?.violation,
      text,
    }
  }

  it('the tool gets the path that was judged', async () => {
    expect((await judged('docs/../docs/a.md')).used).toBe(join(root, 'docs', 'a.md'))
    expect((await judged(join(root, 'docs', 'a.md'))).used).toBe(join(root, 'docs', 'a.md'))
    expect((await judged('inner/a.md')).used).toBe(join(root, 'docs', 'a.md'))
    expect((await judged('docs/a.md', { rewrite: false })).used).toBe('docs/a.md')
  })

  it.each<[string, Partial<PathOptions>, string]>([
    ['../outside/secret.md', {}, 'escape'],
    [join(outside, 'secret.md'), {}, 'outside-roots'],
    [`${root}x/secret.md`, {}, 'outside-roots'],
    ['link/secret.md', {}, 'symlink'],
    ['link/new.md', {}, 'symlink'],
    ['inner/a.md', { symlinks: 'refuse' }, 'symlink'],
    ['docs/none.md', {}, 'missing'],
    ['run.sh', { extensions: ['.md'] }, 'extension'],
    ['script.md', { extensions: ['.md'] }, 'extension'],
    ['docs', { extensions: ['.md'] }, 'extension'],
    ['big.md', { maxBytes: 99 }, 'too-large'],
    ['C:\\docs\\a.md', {}, 'escape'],
    ['docs/a.md/x', {}, 'missing'],
  ])('%s is refused: %o, %s', async (path, paths, violation) => {
    const { used, refused, text } = await judged(path, paths)

    expect(refused).toBe(violation)
    expect(used).toBeUndefined()
    expect(text).toContain(violation)
    expect(text).not.toContain('secret')
  })

  it('a tool that writes may name what does not exist yet', async () => {
    expect((await judged('docs/new/b.md', {}, false)).used).toBe(join(root, 'docs', 'new', 'b.md'))
    expect((await judged('docs/new/b.md', { mustExist: true }, false)).refused).toBe('missing')
  })

  it('a link that leads nowhere is not written to', async () => {
    expect((await judged('dangling.md', {}, false)).refused).toBe('symlink')
    expect((await judged('dangling/new.md', {}, false)).refused).toBe('symlink')
  })

  it('paths are found at any depth, by their key', async () => {
    const args = {
      edits: [{ filePath: 'docs/a.md', text: '../x' }, { filePath: '../x' }],
      title: '../../not a path',
    }
    const events: FileEvent[] = []
    const { seen } = await call(mode, args, {
      paths: { roots: [root] },
      onEvent: (event) => void events.push(event),
    })

    expect(seen).toEqual([])
    expect(events).toEqual([
      expect.objectContaining({ argument: 'edits.1.filePath', violation: 'escape', tool: 'read' }),
    ])
  })

  it('a key may be called __proto__', async () => {
    const args = JSON.parse('{"files":{"__proto__":"docs/a.md"}}') as Record<string, unknown>

    const { seen } = await call(mode, args, { paths: { roots: [root] } })

    const { files } = seen[0] as { files: object }
    expect(Object.entries(files)).toEqual([['__proto__', join(root, 'docs', 'a.md')]])
    expect(Object.getPrototypeOf(files)).toBe(Object.prototype)
  })

  it('keys are chosen by a pattern, a list or a function; a pattern does not flicker', async () => {
    const args = { a: '../x', aa: '../x' }
    for (const keys of [/a/g, /a/y, ['a', 'aa'], (key: string) => key === 'aa']) {
      for (const _ of [1, 2]) {
        const { seen } = await call(mode, args, { paths: { roots: [root], keys } })
        expect(seen).toEqual([])
      }
    }
  })

  it('a violation may end the run as blocked, without a word of the path', async () => {
    const options: FileValidatorOptions = { paths: { roots: [root], onViolation: 'block' } }

    const { response } = await call(mode, { path: '../my-secret-name' }, options)

    expect(response).toMatchObject({
      status: 'blocked',
      block: { guardrail: 'files', level: 'function', category: 'path-escape' },
    })
    expect(JSON.stringify(response)).not.toContain('my-secret-name')
  })

  it('in shadow mode everything passes as it was, and is told', async () => {
    const events: FileEvent[] = []
    const { seen } = await call(
      mode,
      { path: '../x' },
      { mode: 'shadow', paths: { roots: [root] }, onEvent: (event) => void events.push(event) },
    )

    expect(seen).toEqual([{ path: '../x' }])
    const harmless = { path: 'docs/a.md' }
    const options: FileValidatorOptions = { mode: 'shadow', paths: { roots: [root] } }
    expect((await call(mode, harmless, options)).seen).toEqual([harmless])
    expect(events).toEqual([
      {
        middleware: 'files',
        kind: 'path',
        violation: 'escape',
        action: 'shadow',
        tool: 'read',
        argument: 'path',
      },
    ])
  })

  it('a disk that cannot be read refuses', async () => {
    const fileSystem = {
      realpath: () => Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' })),
      lstat: () => Promise.reject(new Error('no')),
      stat: () => Promise.reject(new Error('no')),
    }

    expect((await judged('docs/a.md', { fileSystem })).refused).toBe('unreadable')
  })

  it('of many roots any will do', async () => {
    const roots = [root, outside]

    expect((await judged(join(outside, 'secret.md'), { roots })).used).toBe(
      join(outside, 'secret.md'),
    )
    expect((await judged('link/secret.md', { roots })).used).toBe(join(outside, 'secret.md'))
  })

  it('calls side by side are each judged by themselves', async () => {
    const calls = Array.from({ length: 200 }, (_, at) =>
      callFunction('read', { path: at % 2 === 0 ? 'docs/a.md' : '../x' }),
    )
    const client = scriptedClient([calls, 'Done.'])
    let ran = 0
    const read = tool({
      name: 'read',
      description: '',
      parameters: jsonSchema({ type: 'object' }),
      execute: () => void ran++,
    })
    const middleware = fileValidator({ paths: { roots: [root] } })
    const agent = new Agent({ client, tools: [read], middleware })

    await runIn(mode, agent)

    expect(ran).toBe(100)
  })

  it('an abort while the disk is looked at ends the run, and refuses nothing', async () => {
    const controller = new AbortController()
    const fileSystem = {
      realpath: async (path: string) => {
        controller.abort()
        return path
      },
      lstat: () => new Promise<never>(() => {}),
      stat: () => new Promise<never>(() => {}),
    }
    const client = scriptedClient([callFunction('read', { path: 'docs/a.md' })])
    const read = tool({
      name: 'read',
      description: '',
      parameters: jsonSchema({ type: 'object' }),
      execute: () => '',
    })
    const middleware = fileValidator({ paths: { roots: [root], fileSystem } })
    const agent = new Agent({ client, tools: [read], middleware })

    const { signal } = controller
    const running = runIn(mode, agent, { signal })

    await expect(running).rejects.toMatchObject({ name: 'AbortError' })
  })
})

const png = Uint8Array.from(
  atob(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  ),
  (character) => character.charCodeAt(0),
)
const encode = (value: string): Uint8Array => new TextEncoder().encode(value)
const file = (mediaType: string, data: string | Uint8Array, name?: string): Content => ({
  type: 'data',
  mediaType,
  data,
  ...(name !== undefined && { name }),
})
const link = (uri: string, mediaType?: string): Content => ({
  type: 'uri',
  uri,
  ...(mediaType !== undefined && { mediaType }),
})

describe.each(runModes)('files in contents, %s', (mode) => {
  const sent = async (
    contents: readonly Content[],
    options: FileValidatorOptions['contents'] = true,
  ) => {
    const events: FileEvent[] = []
    const client = scriptedClient(['Seen.'])
    const middleware = fileValidator({
      contents: options,
      onEvent: (event) => void events.push(event),
    })
    const agent = new Agent({ client, middleware })
    const response = await runIn(mode, agent, { input: [...contents] })
    return {
      status: response.status,
      category: response.block?.category,
      events,
      seen: client.requests[0]?.messages[0]?.contents,
    }
  }

  it.each<[string, Content]>([
    ['an image', file('image/png', png, 'dot.png')],
    ['an image in base64', file('image/png', btoa(String.fromCharCode(...png)))],
    ['text', file('text/plain; charset=utf-8', encode('Hello.'))],
    ['JSON', file('application/json', encode('{}'))],
    ['markdown with markup inside', file('text/markdown', encode('# Hi\n<b>bold</b>'))],
    ['a link', link('https://example.com/a.png', 'image/png')],
  ])('%s passes', async (_, content) => {
    expect(await sent([content])).toMatchObject({
      status: 'completed',
      events: [],
      seen: [content],
    })
  })

  it.each<[string, Content, string, FileValidatorOptions['contents']?]>([
    ['an archive', file('application/zip', encode('PK')), 'media-type'],
    ['SVG', file('image/svg+xml', encode('<svg/>')), 'media-type'],
    ['HTML', file('text/html', encode('<p>')), 'media-type'],
    [
      'HTML that calls itself text',
      file('text/plain', encode('<!doctype html><script>')),
      'active-content',
    ],
    ['an image that calls itself text', file('text/plain', png), 'mismatch'],
    [
      'a program that calls itself an image',
      file('image/png', encode('MZ\u0090\u0000')),
      'mismatch',
    ],
    ['text that calls itself an image', file('image/png', encode('hello')), 'mismatch'],
    ['bytes that call themselves text', file('text/plain', Uint8Array.of(1, 0, 2)), 'mismatch'],
    ['what is no base64', file('image/png', 'not base64!'), 'not-base64'],
    ['what is large', file('text/plain', encode('abc')), 'too-large', { maxBytes: 2 }],
    ['what is large, in base64', file('text/plain', btoa('abc')), 'too-large', { maxBytes: 2 }],
    ['a name with a folder', file('image/png', png, '../a.png'), 'name'],
    ['a name that turns around', file('image/png', png, 'a\u202egnp.exe'), 'name'],
    ['a long name', file('image/png', png, 'a'.repeat(256)), 'name'],
    ['an insecure link', link('http://example.com/a.png'), 'uri'],
    ['a link to this machine', link('https://localhost/a.png'), 'uri'],
    ['a link to a private address', link('https://10.1.2.3/a.png'), 'uri'],
    ['a link to an address in disguise', link('https://2130706433/a.png'), 'uri'],
    ['a link to the metadata of a cloud', link('https://169.254.169.254/'), 'uri'],
    ['a link to IPv6 of this machine', link('https://[::1]/'), 'uri'],
    ['a link to 127.0.0.1 by way of 6to4', link('https://[2002:7f00:1::]/'), 'uri'],
    ['a link to IPv4 within IPv6', link('https://[::ffff:10.0.0.1]/'), 'uri'],
    ['a link with a password', link('https://a:b@example.com/'), 'uri'],
    ['bytes in a link', link('data:image/png;base64,AAAA'), 'uri'],
    ['no link', link('a.png'), 'uri'],
    ['a link to another host', link('https://evil.com/'), 'uri', { hosts: ['*.example.com'] }],
    ['a link to an archive', link('https://example.com/a', 'application/zip'), 'media-type'],
    ['a file that `scan` refuses', file('image/png', png), 'scan', { scan: () => false }],
    [
      'a file at which `scan` fails',
      file('image/png', png),
      'unreadable',
      { scan: () => Promise.reject(new Error('down')) },
    ],
  ])('%s is blocked', async (_, content, violation, options) => {
    const { status, category, seen, events } = await sent([content], options)

    expect([status, category]).toEqual(['blocked', `file-${violation}`])
    expect(seen).toBeUndefined()
    expect(events).toEqual([{ middleware: 'files', kind: 'file', violation, action: 'block' }])
  })

  it('pixels are counted where there are too many for the default', async () => {
    const wide = png.slice()
    new DataView(wide.buffer).setUint32(16, 100_000)
    new DataView(wide.buffer).setUint32(20, 1000)

    expect((await sent([file('image/png', wide)])).category).toBe('file-too-many-pixels')
  })

  it('number and size are counted over the whole input', async () => {
    const two = [file('text/plain', encode('abc')), file('text/plain', encode('def'))]

    expect((await sent(two, { maxFiles: 1 })).category).toBe('file-too-many')
    expect((await sent(two, { maxTotalBytes: 5 })).category).toBe('file-total-too-large')
  })

  it('a file is left out, or something stands in its place, if that is wanted', async () => {
    const contents = [file('application/zip', encode('PK')), file('image/png', png)]

    expect((await sent(contents, { onViolation: 'drop' })).seen).toEqual([contents[1]])
    expect((await sent(contents, { onViolation: 'placeholder' })).seen).toEqual([
      { type: 'text', text: '[a file was left out: media-type]' },
      contents[1],
    ])
  })

  it('files in results of tools that the input brings are judged, too', async () => {
    const zip = file('application/zip', encode('PK'))
    const client = scriptedClient(['Seen.'])
    const middleware = fileValidator({ contents: { onViolation: 'placeholder' } })
    const agent = new Agent({ client, middleware })
    const input: MessageInput = [
      { role: 'user', contents: 'Look.' },
      {
        role: 'assistant',
        contents: [{ type: 'function-call', callId: 'c1', name: 'look', arguments: '{}' }],
      },
      { role: 'tool', contents: [{ type: 'function-result', callId: 'c1', contents: [zip] }] },
      { role: 'user', contents: 'And?' },
    ]

    await runIn(mode, agent, { input })

    expect(client.requests[0]!.messages[2]!.contents).toMatchObject([
      { callId: 'c1', contents: [{ text: '[a file was left out: media-type]' }] },
    ])
  })

  it('files in results of tools are judged before the model reads them', async () => {
    const contents = { onViolation: 'placeholder' } as const
    const zip = file('application/zip', encode('PK'))

    const { text } = await call(mode, {}, { contents }, { result: [zip, file('image/png', png)] })
    const blocked = await call(mode, {}, { contents: true }, { result: [zip] })

    expect(text).toContain('[a file was left out: media-type]')
    expect(text).toContain('image/png')
    expect(blocked.response).toMatchObject({ status: 'blocked', block: { stage: 'result' } })
  })

  it('an abort while a file is scanned ends the run, though the scan does not listen', async () => {
    const controller = new AbortController()
    const scan = (): Promise<boolean> => {
      controller.abort()
      return new Promise(() => {})
    }
    const events: FileEvent[] = []
    const onEvent = (event: FileEvent): void => void events.push(event)
    const middleware = fileValidator({ contents: { scan }, onEvent })
    const agent = new Agent({ client: scriptedClient([]), middleware })
    const { signal } = controller
    const input = [file('image/png', png)]
    const running = runIn(mode, agent, { input, signal })

    await expect(running).rejects.toMatchObject({ name: 'AbortError' })
    expect(events).toEqual([])
  })
})

describe('options', () => {
  it.each([
    [{}, '`paths`'],
    [{ paths: { roots: [] } }, '`paths.roots`'],
    [{ paths: { roots: ['docs'] } }, '`paths.roots`'],
    [{ paths: { roots: [root], extensions: ['md'] } }, '`paths.extensions`'],
    [{ paths: { roots: [root], dialects: ['mac'] } }, '`paths.dialects`'],
    [{ paths: { roots: [root], onViolation: 'drop' } }, '`paths.onViolation`'],
    [{ paths: { roots: [root], extensions: '.md' } }, '`paths.extensions`'],
    [{ paths: { roots: [root], keys: 'path' } }, '`paths.keys`'],
    [{ paths: { roots: [root], mustExist: 'yes' } }, '`paths.mustExist`'],
    [{ paths: { roots: [root], fileSystem: { realpath: 1 } } }, '`paths.fileSystem.realpath`'],
    [{ contents: false }, '`contents`'],
    [{ contents: { allow: 'image/*' } }, '`contents.allow`'],
    [{ contents: { scan: 1 } }, '`contents.scan`'],
    [{ contents: true, when: 1 }, '`when`'],
    [{ contents: { maxBytes: -1 } }, '`contents.maxBytes`'],
    [{ contents: true, mode: 'on' }, '`mode`'],
  ])('name what is wrong: %o', (options, problem) => {
    expect(() => fileValidator(options as never)).toThrow(problem)
  })

  it('middlewares inside see what was judged', async () => {
    const seen: unknown[] = []
    const look = functionMiddleware(
      'look',
      async (context: FunctionInvocationContext, callNext) => {
        seen.push(context.arguments['path'])
        await callNext()
      },
    )
    const read = tool({
      name: 'read',
      description: '',
      parameters: jsonSchema({ type: 'object' }),
      execute: () => '',
    })
    const client = scriptedClient([callFunction('read', { path: 'docs/a.md' }), 'Done.'])
    const middleware = [fileValidator({ paths: { roots: [`${root}${sep}`] } }), look]

    await new Agent({ client, tools: [read], middleware }).run('Go')

    expect(seen).toEqual([join(root, 'docs', 'a.md')])
  })
})
