import { callFunction, scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import { Agent, hostedTool, tool, toolSearch } from '../index.ts'
import { lifecycle } from '@lamella/lifecycle'

const named = (name: string, description: string) =>
  tool({ name, description, execute: () => name })

const hidden = [
  named('mail', 'Writes to a user.'),
  named('listUsers', 'Shows all people.'),
  named('get_user_name', 'Tells how somebody is called.'),
  named('superuser', 'Acts for everybody.'),
  named('select', 'Marks a row.'),
  hostedTool('web_search', { type: 'web_search' }),
]

/** Names of the tools that a search finds, the best one first. */
async function found(query: string): Promise<readonly string[]> {
  const client = scriptedClient([callFunction('tool_search', { query }), 'Done.'])
  const agent = new Agent({
    client,
    tools: [toolSearch({ maxResults: 9 }), ...hidden],
    middleware: lifecycle({
      name: 'defer',
      beforeTurn: ({ run }) => run.tools.defer(...hidden.map(({ name }) => name)),
    }),
  })
  const { messages } = await agent.run('Go')
  const [result] = messages[1]!.contents
  const [part] = result?.type === 'function-result' ? result.contents : []
  const answer = JSON.parse(part?.type === 'text' ? part.text : '') as {
    readonly found: readonly { readonly name: string }[]
  }
  return answer.found.map(({ name }) => name)
}

test.each([
  ['user', ['get_user_name', 'listUsers', 'superuser', 'mail']],
  ['users', ['listUsers']],
  ['people', ['listUsers']],
  ['user name', ['get_user_name', 'listUsers', 'superuser', 'mail']],
  ['user +name', ['get_user_name']],
  ['+user people', ['get_user_name', 'listUsers', 'superuser', 'mail']],
  ['some', ['get_user_name']],
  ['web', ['web_search']],
  ['undefined', []],
  ['select:superuser, mail', ['mail', 'superuser']],
  ['select:people', []],
  ['select', ['select']],
])('a search for "%s" finds the best tools first', async (query, names) => {
  expect(await found(query)).toEqual(names)
})

test('a search tool says that it changes nothing outside, and what it takes', () => {
  expect(toolSearch()).toMatchObject({
    readOnly: true,
    jsonSchema: { required: ['query'], additionalProperties: false },
  })
})

test('names what it can find in each request, if asked', async () => {
  const client = scriptedClient([callFunction('tool_search', { query: 'select:mail' }), 'Done.'])
  const agent = new Agent({
    client,
    tools: [toolSearch({ list: true }), ...hidden.slice(0, 3)],
    middleware: lifecycle({
      name: 'defer',
      beforeTurn: ({ run }) => run.tools.defer('mail', 'listUsers', 'get_user_name'),
    }),
  })

  await agent.run('Go')

  const requested = client.requests.map(({ options: { tools } }) =>
    tools?.map((one) => (one.type === 'function' ? one.description : one.name)),
  )
  expect(requested).toEqual([
    [expect.stringMatching(/Not shown yet: mail, listUsers, get_user_name\.$/)],
    [expect.stringMatching(/Not shown yet: listUsers, get_user_name\.$/), 'Writes to a user.'],
  ])
})

test('names no more than 200, and nothing once all is shown', async () => {
  const many = Array.from({ length: 202 }, (_, at) => named(`tool_${at}`, ''))
  const client = scriptedClient(['One.', 'Two.'])
  const agent = new Agent({ client, tools: [toolSearch({ list: true }), ...many] })
  const defer = lifecycle({
    name: 'defer',
    beforeTurn: ({ run }) => run.tools.defer(...many.map(({ name }) => name)),
  })

  await agent.run('Go', { middleware: defer })
  await agent.run('Go')

  const [first, second] = client.requests.map(({ options }) => options.tools?.[0])
  expect(first).toMatchObject({ description: expect.stringMatching(/tool_199 and 2 more\.$/) })
  expect(second).toMatchObject({ description: expect.not.stringContaining('Not shown yet') })
})
