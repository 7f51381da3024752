import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { FunctionInvocationConfiguration, ToolDefinition } from '../index.ts'
import { Agent, jsonSchema, tool, toolSearch } from '../index.ts'
import { lifecycle } from '@lamella/lifecycle'

const read = tool({
  name: 'read_file',
  description: 'Reads a file.',
  parameters: jsonSchema({
    type: 'object',
    properties: { file: { type: 'string' } },
    required: ['file'],
    additionalProperties: false,
  }),
  aliases: ['open', 'cat'],
  argumentAliases: { path: 'file', ['__proto__']: 'file' },
  execute: ({ file }) => `read ${String(file)}`,
})

describe.each(runModes)('finding the tool that a model means, %s', (mode) => {
  async function resultOf(
    call: ReturnType<typeof callFunction>,
    functionInvocation: FunctionInvocationConfiguration = {},
    tools: readonly ToolDefinition[] = [read],
  ) {
    const client = scriptedClient([call, 'Done.'])
    await runIn(mode, new Agent({ client, tools, functionInvocation }))
    const [content] = client.requests[1]!.messages.at(-1)!.contents
    if (content?.type !== 'function-result') throw new Error('no result')
    const [part] = content.contents
    return { text: part?.type === 'text' ? part.text : '', error: content.error?.code }
  }

  it.each(['read_file', 'open', 'cat'])('by the name %s', async (name) => {
    expect(await resultOf(callFunction(name, { file: 'a.txt' }))).toEqual({
      text: 'read a.txt',
      error: undefined,
    })
  })

  it('a tool of that name comes before an alias', async () => {
    const open = tool({ name: 'open', description: '', execute: () => 'opened' })

    expect((await resultOf(callFunction('open', {}), {}, [read, open])).text).toBe('opened')
  })

  it('arguments by other names are those of the schema', async () => {
    expect((await resultOf(callFunction('cat', { path: 'a.txt' }))).text).toBe('read a.txt')
    expect((await resultOf(callFunction('cat', '{"__proto__":"a.txt"}'))).text).toBe('read a.txt')
  })

  it('what was given by its own name is not replaced', async () => {
    const { error } = await resultOf(callFunction('cat', { path: 'b.txt', file: 'a.txt' }))

    expect(error).toBe('invalid_arguments')
  })

  it('a handler answers for tools that do not exist', async () => {
    const onUnknownTool = ({ name }: { readonly name: string }) =>
      name === 'write_file' ? 'Files cannot be written here.' : undefined

    expect(await resultOf(callFunction('write_file'), { onUnknownTool })).toEqual({
      text: 'Files cannot be written here.',
      error: undefined,
    })
    expect((await resultOf(callFunction('fly'), { onUnknownTool })).error).toBe('unknown_tool')
  })

  it('a handler that throws fails the run', async () => {
    const onUnknownTool = (): never => {
      throw new Error('handler')
    }

    await expect(resultOf(callFunction('fly'), { onUnknownTool })).rejects.toThrow('handler')
  })

  it('the model finds deferred tools by a search, and is shown them from then on', async () => {
    const named = (name: string, description: string) =>
      tool({ name, description, execute: () => name })
    const client = scriptedClient([
      callFunction('tool_search', { query: 'weather +forecast' }),
      callFunction('getWeatherForecast'),
      callFunction('tool_search', { query: 'select:send_mail, delete_mail', maxResults: 1 }),
      'Done.',
    ])
    const agent = new Agent({
      client,
      tools: [
        toolSearch(),
        named('getWeatherForecast', 'How it will be.'),
        named('weather_history', 'How it was.'),
        named('send_mail', 'Sends.'),
        named('delete_mail', 'Deletes.'),
      ],
      middleware: lifecycle({
        name: 'defer',
        beforeTurn: ({ run: { tools } }) =>
          tools.defer('getWeatherForecast', 'weather_history', 'send_mail', 'delete_mail'),
      }),
    })

    await runIn(mode, agent)

    expect(client.requests.map(({ options }) => options.tools?.map(({ name }) => name))).toEqual([
      ['tool_search'],
      ['tool_search', 'getWeatherForecast'],
      ['tool_search', 'getWeatherForecast'],
      ['tool_search', 'getWeatherForecast', 'send_mail'],
    ])
    const results = JSON.stringify(client.requests.at(-1)?.messages)
    expect(results).toContain('How it will be.')
    expect(results).not.toContain('How it was.')
  })
})

describe('options', () => {
  it('name what is wrong', () => {
    expect(() => toolSearch({ maxResults: 0 })).toThrow('`maxResults`')
    const functionInvocation = { onUnknownTool: 'ignore' as never }
    expect(() => new Agent({ client: scriptedClient([]), functionInvocation })).toThrow(
      '`onUnknownTool`',
    )
  })
})
