import { describe, expect, test } from 'vitest'
import { LamellaError } from '../base/lamella-error.ts'
import { LiveTools } from './live-tools.ts'
import type { ToolDefinition } from '../contract/run.ts'
import { hostedTool, tool } from '../contract/tool.ts'

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => tool({ name, description: '' })) as [
  ReturnType<typeof tool>,
  ReturnType<typeof tool>,
  ReturnType<typeof tool>,
  ReturnType<typeof tool>,
]
const anotherA = tool({ name: 'a', description: 'Another one.' })

function names(tools: Iterable<{ readonly name: string }>): string {
  return [...tools].map(({ name }) => name).join('')
}

describe('a list of tools', () => {
  test('is read anew by each run, also where it was changed in place', () => {
    const list = [a, b]
    expect(names(new LiveTools(list).executable)).toBe('ab')

    list.push(c)
    expect(names(new LiveTools(list).executable)).toBe('abc')

    list[1] = anotherA
    expect(() => new LiveTools(list)).toThrow('"a"')
  })

  test('is copied once, and the copy is frozen', () => {
    const list = [a, hostedTool('web_search', {})]

    const tools = new LiveTools(list)

    expect(tools.visible).toBe(tools.executable)
    expect(new LiveTools(list).visible).toBe(tools.visible)
    expect(() => (tools.visible as ToolDefinition[]).push(b)).toThrow(TypeError)
    expect(tools.get('web_search')).toBe(list[1])
    expect(tools.get('b')).toBeUndefined()
    expect([...tools]).toEqual(list)
  })

  test('tells of each edit before it is made', () => {
    const told: string[] = []
    const tools = new LiveTools([a, b])
    const noteEdit = (what: string): void => void told.push(`${what} ${names(tools.visible)}`)
    tools.progress = { phase: 'early', noteEdit }

    tools.add(c)
    tools.remove('a')
    tools.hide('b')
    tools.show('b')
    tools.defer('c')
    tools.setReturnDirect('b', true)

    expect(told).toEqual([
      'run.tools.add() ab',
      'run.tools.remove() abc',
      'run.tools.hide() bc',
      'run.tools.show() c',
      'run.tools.defer() cb',
      'run.tools.setReturnDirect() b',
    ])
  })

  test('may have the same tool twice, which then counts once', () => {
    expect(new LiveTools([a, b, a]).executable).toEqual([a, b])
  })

  test('cannot have two tools of one name', () => {
    const build = () => new LiveTools([a, b, anotherA])

    expect(build).toThrow(expect.objectContaining({ message: 'two different tools are named "a"' }))
    expect(build).toThrow(expect.toSatisfy((error) => LamellaError.is(error, 'tool_conflict')))
  })

  test('cannot have a plain object, which no one has checked', () => {
    const build = () => new LiveTools([{ name: 'a', execute: () => 'a' } as never])

    expect(build).toThrow(
      new TypeError(
        'the tool a is an object; pass tool({ name, description, parameters, execute })',
      ),
    )
  })

  test('of tools that are not advertised is executable and not shown', () => {
    const tools = new LiveTools([a, b], [b, c])

    expect(names(tools.executable)).toBe('abc')
    expect(names(tools.visible)).toBe('ab')
    expect(() => new LiveTools([a], [anotherA])).toThrow('"a"')
  })
})

describe('adding', () => {
  test('appends, and leaves the list of the caller and those given out before alone', () => {
    const list = [a]
    const tools = new LiveTools(list)
    const { visible } = tools

    tools.add(b, c)

    expect(names(tools.executable)).toBe('abc')
    expect(names(tools.visible)).toBe('abc')
    expect(list).toEqual([a])
    expect(visible).toEqual([a])
  })

  test('what is there already changes nothing', () => {
    const tools = new LiveTools([a, b])
    const { visible, executable } = tools

    tools.add(b, a)

    expect(tools.visible).toBe(visible)
    expect(tools.executable).toBe(executable)
  })

  test.each([
    ['is taken', [b, c, anotherA]],
    ['is twice among the new ones', [b, c, tool({ name: 'b', description: '' })]],
  ])('none is added if the name of one %s', (_name, batch) => {
    const tools = new LiveTools([a])
    const { visible } = tools

    expect(() => tools.add(...batch)).toThrow(
      expect.toSatisfy((error) => LamellaError.is(error, 'tool_conflict')),
    )

    expect(names(tools.executable)).toBe('a')
    expect(tools.get('b')).toBeUndefined()
    expect(tools.visible).toBe(visible)
  })
})

describe('removing', () => {
  test('goes by name or by object', () => {
    const tools = new LiveTools([a, b, c])

    tools.remove('a', b)

    expect(names(tools.executable)).toBe('c')
    expect(names(tools.visible)).toBe('c')
    expect(tools.get('a')).toBeUndefined()
  })

  test('what is not there leaves the list as it is', () => {
    const tools = new LiveTools([a, b])
    const before = tools.executable

    tools.remove('c')

    expect(tools.executable).toBe(before)
  })

  test('ignores what is not there, also another tool of the same name', () => {
    const tools = new LiveTools([a])
    const { visible } = tools

    tools.remove('b', c, anotherA)

    expect(tools.visible).toBe(visible)
  })

  test('frees the name, and what was said about it is forgotten', () => {
    const tools = new LiveTools([a, b])
    tools.hide('a')
    tools.setReturnDirect('a', true)

    tools.remove('a')
    tools.add(anotherA)

    expect(tools.visible).toEqual([b, anotherA])
    expect(tools.returnsDirect('a')).toBe(false)
  })
})

describe('what the model is shown', () => {
  test('leaves out hidden and deferred tools, which stay executable', () => {
    const tools = new LiveTools([a, b, c, d])

    tools.hide('b')
    tools.defer('c')

    expect(names(tools.visible)).toBe('ad')
    expect(names(tools.executable)).toBe('abcd')
    expect(names(tools.deferred)).toBe('c')
    expect(tools.get('c')).toBe(c)
  })

  test('gets what is shown later at its end, so that what was cached before it still holds', () => {
    const tools = new LiveTools([a, b, c])
    tools.defer('a', 'b')
    expect(names(tools.visible)).toBe('c')

    tools.show('b')
    expect(names(tools.visible)).toBe('cb')

    tools.add(d)
    tools.show('a')
    expect(names(tools.visible)).toBe('cbad')
    expect(tools.deferred).toEqual([])
  })

  test('is the same list if a change is undone before the next model call', () => {
    const tools = new LiveTools([a, b, c])
    const { visible } = tools

    tools.hide('b')
    tools.show('b')
    tools.add(d)
    tools.remove(d)

    expect(tools.visible).toBe(visible)
  })

  test('does not depend on what was said twice or of unknown names', () => {
    const tools = new LiveTools([a])
    const { visible } = tools
    tools.hide('b')

    tools.hide('b')
    tools.show('c')

    expect(tools.visible).toBe(visible)
  })

  test('is the same list with the tools that the provider searches, until these change', () => {
    const tools = new LiveTools([hostedTool('tool_search', {}), a, b, c])
    tools.defer('a')
    const { offered } = tools

    const again = tools.offered
    tools.show('a')
    tools.defer('b')

    expect(again).toBe(offered)
    expect(offered.at(-1)?.name).toBe('a')
    expect(tools.offered.at(-1)?.name).toBe('b')
  })

  test('has what is deferred only where the provider searches, a hosted tool as it is', () => {
    const hosted = hostedTool('web_search', { type: 'web_search' })
    const tools = new LiveTools([hosted, a])
    tools.defer('a')
    expect(tools.offered).toEqual([hosted])

    tools.add(hostedTool('tool_search', {}))
    tools.defer('web_search')

    expect(names(tools.offered)).toBe('tool_searchweb_searcha')
    expect(tools.offered[1]).toBe(hosted)
  })

  test('leaves out a tool that was deferred before it was added', () => {
    const tools = new LiveTools([a])

    tools.defer('b')
    tools.add(b)

    expect(names(tools.visible)).toBe('a')
    expect(names(tools.deferred)).toBe('b')
  })

  test('no longer finds a deferred tool that is hidden', () => {
    const tools = new LiveTools([a, b])
    tools.defer('b')

    tools.hide('b')

    expect(tools.deferred).toEqual([])
    expect(names(tools.visible)).toBe('a')
  })
})

test('a result goes straight to the caller if the tool says so, unless the run says otherwise', () => {
  const direct = tool({ name: 'direct', description: '', returnDirect: true })
  const tools = new LiveTools([a, direct, hostedTool('web_search', {})])

  expect(['a', 'direct', 'web_search', 'none'].map((name) => tools.returnsDirect(name))).toEqual([
    false,
    true,
    false,
    false,
  ])

  tools.setReturnDirect('a', true)
  tools.setReturnDirect('direct', false)

  expect([tools.returnsDirect('a'), tools.returnsDirect('direct')]).toEqual([true, false])
})

test('what is said about results holds for other names of the tool, and for a tool to come', () => {
  const aliased = tool({ name: 'new_name', description: '', aliases: ['old_name'] })
  const tools = new LiveTools([aliased])

  tools.setReturnDirect('new_name', true)
  tools.setReturnDirect('later', true)

  expect(['old_name', 'later'].map((name) => tools.returnsDirect(name))).toEqual([true, true])
})

describe('a snapshot', () => {
  test('survives JSON and brings back what was shown, in its order', () => {
    const before = new LiveTools([a, b, c, d])
    before.defer('a', 'b')
    expect(names(before.visible)).toBe('cd')
    before.show('a')
    before.hide('c')
    before.setReturnDirect('d', true)

    const after = new LiveTools([a, b, c, d])
    after.restore(JSON.parse(JSON.stringify(before.snapshot())))

    expect(names(after.visible)).toBe('da')
    expect(names(after.deferred)).toBe('b')
    expect(after.returnsDirect('d')).toBe(true)
    expect(after.snapshot()).toEqual(before.snapshot())
  })

  test('of tools that are gone is taken as far as it goes, and new tools are shown', () => {
    const before = new LiveTools([a, b])
    before.hide('a')

    const after = new LiveTools([b, c])
    after.restore(before.snapshot())

    expect(names(after.visible)).toBe('bc')
  })

  test('shows what was shown of the tools that are not advertised, and no others', () => {
    const before = new LiveTools([a], [b])
    before.show('b')

    const after = new LiveTools([a], [b, c])
    after.restore(before.snapshot())

    expect(names(after.visible)).toBe('ab')
    expect(names(after.executable)).toBe('abc')
  })
})
