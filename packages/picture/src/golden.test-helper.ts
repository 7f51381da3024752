import {
  Agent,
  agentMiddleware,
  agentTool,
  chatMiddleware,
  functionMiddleware,
  tool,
} from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { again, blocks, note, overloaded, recorded, shout } from './recording.test-helper.ts'

const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })
const policy = functionMiddleware('policy', async (context, callNext) => {
  if (context.arguments['at'] === 9) context.result = 'denied'
  else await callNext()
})

/** A run with tools, a retry after release, changes at each level, events and money. */
export async function richRun(): Promise<string> {
  const { text } = await recorded(
    { capture: 'full', prices: { 'm-1': { input: 2, output: 10 } } },
    async (record) => {
      const tell = agentMiddleware('tell', async (context, callNext) => {
        context.run.emit({ type: 'cache', data: { status: 'miss', key: 'k1' } })
        await callNext()
        context.run.emit({ type: 'budget', data: { spent: 2 } })
      })
      const client = scriptedClient(
        [
          [callFunction('look', { at: 1 }), callFunction('look', { at: 9 })],
          { updates: ['One '], error: overloaded() },
          'Two three four.',
        ],
        { model: 'm-1' },
      )
      const agent = new Agent({
        name: 'helper',
        client,
        instructions: 'Help.',
        tools: [look],
        middleware: record.middleware([tell, again(), note(), shout(), policy]),
      })
      await agent.run('Where is my parcel?', { stream: true }).finalResponse()
    },
  )
  return text
}

/** A run that a guardrail blocked. */
export async function blockedRun(): Promise<string> {
  const { text } = await recorded({ capture: 'full' }, async (record) => {
    const agent = new Agent({
      name: 'guarded',
      client: scriptedClient(['Some secret text.']),
      middleware: record.middleware(blocks('secret')),
    })
    await agent.run('Hi', { stream: true }).finalResponse()
  })
  return text
}

/** A run that a cache answered. */
export async function cachedRun(): Promise<string> {
  const { text } = await recorded({ capture: 'full' }, async (record) => {
    const cache = chatMiddleware('cache', async (context) => {
      context.run.emit({ type: 'cache', data: { status: 'hit', key: 'k1' } })
      context.result = 'Known already.'
    })
    const client = scriptedClient([])
    await new Agent({ client, middleware: record.middleware(cache) }).run('Hi')
  })
  return text
}

/** A run that waited for an approval, and the one that continued it. */
export async function pausedRun(): Promise<string> {
  const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
  const { text } = await recorded({ capture: 'full' }, async (record) => {
    const client = scriptedClient([callFunction('pay'), 'Paid.'])
    const agent = new Agent({ client, tools: [pay], middleware: record.middleware() })
    const { checkpoint, pending } = await agent.run('Pay it.')
    await agent.resume(checkpoint!, { [pending[0]!.id]: true })
  })
  return text
}

/** An agent that asks another one. */
export async function nestedRun(): Promise<string> {
  const { text } = await recorded({ capture: 'full' }, async (record) => {
    const expert = new Agent({
      name: 'expert',
      client: scriptedClient(['Forty-two.']),
      middleware: record.middleware(shout()),
    })
    const client = scriptedClient([callFunction('expert', { task: 'Count.' }), 'It is 42.'])
    const boss = new Agent({
      name: 'boss',
      client,
      tools: [agentTool(expert, { description: 'Counts.' })],
      middleware: record.middleware(),
    })
    await boss.run('How many?')
  })
  return text
}

/** Forty model calls with 500 updates each, and tool calls in between. */
export async function longRun(): Promise<string> {
  const { text } = await recorded({ capture: 'full' }, async (record) => {
    const words = Array.from({ length: 499 }, (_, at) => `word${at} `)
    const steps = Array.from({ length: 40 }, (_, at) => ({
      updates: at < 39 ? [...words, callFunction('look', { at })] : [...words, `needle${at} `],
    }))
    const middleware = chatMiddleware('timing', (_, callNext) => callNext())
    const client = scriptedClient(
      steps.map(({ updates }) => ({ updates: [...updates, { finishReason: 'stop' as const }] })),
    )
    const agent = new Agent({
      name: 'long',
      client,
      tools: [look],
      middleware: record.middleware([middleware, middleware]),
    })
    await agent.run('Go', { stream: true }).finalResponse()
  })
  return text
}

/** A run whose model calls have a dozen middleware with long names. */
export async function deepRun(): Promise<string> {
  const { text } = await recorded({}, async (record) => {
    const middleware = Array.from({ length: 12 }, (_, at) =>
      chatMiddleware(`prompt-injection-${at}`, (__, callNext) => callNext()),
    )
    const client = scriptedClient(['Hi.'])
    await new Agent({ name: 'deep', client, middleware: record.middleware(middleware) }).run('Go')
  })
  return text
}

/** Texts that a careless page would take for markup. */
export const hostileTexts: readonly string[] = [
  '</script><img src=x onerror="window.hit=1">',
  '<!--<script>window.hit=1</script>',
  '<svg onload="window.hit=1"></svg>',
  '<iframe srcdoc="<script>parent.hit=1</script>"></iframe>',
  'javascript:window.hit=1',
  '"><base href="https://example.org/">',
  '<style>body{display:none}</style>',
  '\u2028\u2029</SCRIPT ><script>window.hit=1</script>',
  '&lt;script&gt;window.hit=1&lt;/script&gt;',
  ']]><form action="https://example.org"><button>',
]

/** A run in which everything that can hold text holds those. */
export async function hostileRun(): Promise<string> {
  const all = hostileTexts.join('\n')
  const { text } = await recorded({ capture: 'full' }, async (record) => {
    const evil = tool({ name: 'evil', description: all, execute: () => all })
    const middleware = chatMiddleware(all, async (context, callNext) => {
      context.run.emit({ type: all, data: { [all]: hostileTexts[0] } })
      context.instructions = all
      context.messages = [
        ...context.messages,
        { id: 'x', role: 'user', contents: [{ type: 'text', text: all }] },
      ]
      await callNext()
    })
    const client = scriptedClient(
      [callFunction('evil', { [all]: all }), { updates: [...hostileTexts, { finishReason: all }] }],
      { model: all },
    )
    const agent = new Agent({
      name: all,
      client,
      tools: [evil],
      middleware: record.middleware(middleware),
    })
    await agent.run(all, { stream: true }).finalResponse()
  })
  return text
}
