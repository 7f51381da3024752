// Clients by name, from configuration or the environment, and prefixes of your own. A local server answers.
import { namedClients } from '@lamella/clients'
import { LamellaError } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { startModelServer } from '@lamella/testing/model-server'

const server = await startModelServer({ answer: () => ({ text: 'Take an umbrella.' }) })
process.env['VLLM_BASE_URL'] = server.baseURL
process.env['LAMELLA_MODEL'] = 'default'

const clientFor = namedClients({
  prefixes: {
    default: 'vllm/my-model',
    test: (model) => scriptedClient([`I am ${model}.`]),
  },
})

for (const name of [undefined, 'vllm/another-model', 'test/nobody']) {
  const client = await clientFor(name)
  const { text } = await client.getResponse('What do I need in Porto?')
  console.log(`${client.provider}: ${text}`)
}

const failure = await clientFor('ai-sdk/cohere/command-a').catch((error: unknown) => error)
if (LamellaError.is(failure, 'client_not_installed')) console.log(failure.message)

await server.close()
