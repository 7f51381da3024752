import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { AgentResponse, ChatClient, Message } from '../../packages/core/src/index.ts'
import { Agent, createSession, message, text, tool } from '../../packages/core/src/index.ts'
import type { RunMode } from '../../packages/testing/src/index.ts'
import { runIn, runModes } from '../../packages/testing/src/index.ts'
import { RawServer } from '../../packages/testing/src/raw-server.ts'
import { isLong } from '../support/runs.ts'
import { aiSdkProviders } from './swap-ai-sdk-providers.ts'
import type { Wire } from './swap-problems.ts'
import type { SwapProvider } from './swap-providers.ts'
import { dialectProviders, providers as ownProviders } from './swap-providers.ts'
import type { Said } from './swap-recordings.ts'
import { drawn } from './swap-recordings.ts'

const providers = [...ownProviders, ...aiSdkProviders]

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='
const chart = 'R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs='

const weather = tool({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) =>
    city === 'Oslo'
      ? [`snow in ${city}`, { type: 'data', mediaType: 'image/gif', data: chart }]
      : `sunny in ${city}`,
})

/** Of a provider without ids: two calls, of which one was never answered. */
const elsewhere = ['Bonn', 'Kyiv'].map((city) => ({
  type: 'function-call' as const,
  callId: '',
  name: 'weather.now',
  arguments: city,
  origin: { provider: 'gemini' },
  providerData: { thoughtSignature: 'opaque-of-gemini' },
}))
const mildThere = { type: 'function-result', callId: '', contents: [text('mild in Bonn')] } as const

const question = [
  message('system', 'The user is in Europe.'),
  message('assistant', 'Hello, what can I do for you?'),
  message('assistant', elsewhere),
  message('tool', mildThere),
  message('user', [
    { type: 'text', text: '' },
    { type: 'text', text: 'Which of the two is warmer?' },
    { type: 'text', text: ' \n' },
    { type: 'data', mediaType: 'image/png', data: Buffer.from(pixel, 'base64') },
    { type: 'uri', uri: 'https://example.com/oslo.png' },
  ]),
]

type Round = Omit<Said, 'mark' | 'model' | 'round'>

const first: readonly Round[] = [
  { text: 'I look at both.', cities: ['Rome', 'Oslo'] },
  { text: 'Rome, says the first.', refusal: 'Of the rest I do not speak.' },
]
const second: readonly Round[] = [
  { text: 'I look at two more.', cities: ['Lima', 'Oslo'] },
  { text: 'Lima, says the second.' },
]
const refusing: readonly Round[] = [{ text: '', refusal: 'Of this I do not speak at all.' }]
const third: readonly Round[] = [{ text: 'Enough, says the first.' }]

/** A client of this provider, which gets these answers, and the requests that it sends. */
function play(
  provider: SwapProvider,
  rounds: readonly Round[],
): { client: ChatClient; sent: Wire[] } {
  const { mark, model } = provider
  const sent: Wire[] = []
  server.handler = (response, request) => {
    const round = sent.push(request.body) - 1
    const said = rounds[round]
    if (said === undefined) throw new Error(`a request too many: ${JSON.stringify(request.body)}`)
    return provider.reply({ mark, model, round: played++, ...said })(response, request)
  }
  return { client: provider.open(server.url), sent }
}
let played = 0

interface Leg {
  readonly response: AgentResponse
  readonly sent: readonly Wire[]
  readonly history: readonly Message[]
}

/** Has the provider continue a history, as an agent would. */
async function goOn(
  provider: SwapProvider,
  history: readonly Message[],
  rounds: readonly Round[],
  mode: RunMode,
): Promise<Leg> {
  const { client, sent } = play(provider, rounds)
  const agent = new Agent({ client, tools: [weather], instructions: 'Be brief.' })
  const session = createSession()
  const response = await runIn(mode, agent, { input: history, session })
  return { response, sent, history: session.messages }
}

function expectLegal(provider: SwapProvider, sent: readonly Wire[], mode: RunMode): void {
  for (const body of sent) {
    expect({ problems: provider.problems(body), body }).toEqual({ problems: [], body })
    const isSaid = mode === 'streamed' && provider.streamsByPath !== true
    expect(body['stream'] ?? false).toBe(isSaid)
    expect(JSON.stringify(provider.system(body))).toContain('Be brief.')
    const whole = JSON.stringify(body)
    const others = providers.map(({ mark }) => mark).filter((mark) => mark !== provider.mark)
    for (const mark of [...others, 'opaque-of-gemini']) expect(whole).not.toContain(mark)
  }
}

/** The chart of a result is a GIF. */
function takesChart({ hasImages = true, takesGif = true }: SwapProvider): boolean {
  return hasImages && takesGif
}

// Each with itself, with its neighbor and with one far away, plain or streamed in turn; all pairs in both ways in
// `npm run check long`.
const half = Math.floor(providers.length / 2)
const steps = isLong ? [...providers.keys()] : [0, 1, half]
const cases = providers.flatMap((from, place) =>
  steps.flatMap((step, turn) => {
    const to = providers[(place + step) % providers.length]!
    const modes = isLong ? runModes : [runModes[(place + turn) % runModes.length]!]
    return modes.map((mode) => ({ from, to, mode }))
  }),
)

describe.each(cases)('$from.name, then $to.name, $mode', ({ from, to, mode }) => {
  test('takes over where the user asks again, and gives back', async () => {
    const begun = await goOn(from, question, first, mode)
    const refused = await goOn(from, [...begun.history, message('user', 'Why?')], refusing, mode)
    const asked = [...refused.history, message('user', 'And of four?')]

    const taken = await goOn(to, asked, second, mode)
    const back = await goOn(from, [...taken.history, message('user', 'Sure?')], third, mode)

    expectLegal(from, [...begun.sent, ...refused.sent], mode)
    expectLegal(to, taken.sent, mode)
    expectLegal(from, back.sent, mode)
    expect(taken.response.text).toBe('I look at two more.Lima, says the second.')
    expect(back.response.text).toBe('Enough, says the first.')
    // Anthropic explains a refusal beside the answer: to itself, that is no part of what was said.
    const isItsOwn = from === to && from.name === 'Anthropic'
    for (const { refusal } of [first[1]!, refusing[0]!]) {
      expect(JSON.stringify(taken.sent[0]).includes(refusal!)).toBe(!isItsOwn)
    }
    const said = JSON.stringify(back.sent[0])
    const shown = [pixel, ...(takesChart(from) ? [chart] : []), 'https://example.com/oslo.png']
    const images = from.hasImages === false ? [] : shown
    expect(said.includes(from.mark)).toBe(from.keepsNothing !== true)
    for (const words of [
      ...images,
      'The user is in Europe.',
      'Hello, what can I do for you?',
      'mild in Bonn',
      'Which of the two is warmer?',
      'I look at both.',
      'snow in Oslo',
      'sunny in Rome',
      'Rome, says the first.',
      'And of four?',
      'sunny in Lima',
      'Lima, says the second.',
    ]) {
      expect(said).toContain(words)
    }
    const drawers = [from, to].filter(({ draws }) => draws)
    expect(said.split(drawn)).toHaveLength(from.hasImages === false ? 1 : drawers.length + 1)
  })

  test('takes over calls that nobody has answered', async () => {
    const begun = await goOn(from, question, first, mode)
    const asked = begun.history.slice(
      0,
      begun.history.findLastIndex(({ role }) => role === 'tool'),
    )
    // Where the model thinks before it speaks.
    const thoughts = asked
      .at(-1)!
      .contents.slice(0, 1)
      .filter(({ type }) => type !== 'text')
    const thought = message('assistant', thoughts)
    const { client, sent } = play(to, third)
    const options = { tools: [weather], instructions: 'Be brief.' }
    const history = [...asked, thought, message('user', 'Well?')]

    const response = await (mode === 'plain'
      ? client.getResponse(history, options)
      : client.getResponse(history, { ...options, stream: true }).finalResponse())

    expectLegal(to, sent, mode)
    expect(response.text).toBe('Enough, says the first.')
    // Two of the first provider, and one from before.
    expect(JSON.stringify(sent[0]).split('No result of this call was recorded.')).toHaveLength(4)
  })

  test('takes over between the calls and the answer', async () => {
    const begun = await goOn(from, question, first, mode)
    const results = begun.history.findLastIndex(({ role }) => role === 'tool')

    const taken = await goOn(to, begun.history.slice(0, results + 1), second.slice(1), mode)

    expectLegal(to, taken.sent, mode)
    expect(taken.response.text).toBe('Lima, says the second.')
    expect(JSON.stringify(taken.sent[0])).toContain('sunny in Rome')
    expect(JSON.stringify(taken.sent[0]).includes(chart)).toBe(takesChart(to))
    expect(JSON.stringify(taken.sent[0]).includes(from.mark)).toBe(
      from === to && from.keepsNothing !== true,
    )
  })
})

test.each(runModes)('a conversation wanders through all of them and back, %s', async (mode) => {
  let history: readonly Message[] = question
  for (const provider of [...providers, ...providers.toReversed()]) {
    const leg = await goOn(provider, history, second, mode)

    expectLegal(provider, leg.sent, mode)
    expect(leg.response.text).toBe('I look at two more.Lima, says the second.')
    history = [...leg.history, message('user', 'And once more?')]
  }
})

// Presets are targets only: of one history that a provider of each protocol family had a part in.
const familyNames = [
  'OpenAI Responses',
  'Chat Completions of mistral',
  'Anthropic',
  'Messages of ollama',
  'Google',
  'AI SDK Google',
  'AI SDK Bedrock',
]
const families = familyNames.map((name) => providers.find((each) => each.name === name)!)
const begun = new Map<RunMode, Promise<readonly Message[]>>()

/** A conversation that all families had a part in. */
function begunBy(mode: RunMode): Promise<readonly Message[]> {
  const known = begun.get(mode) ?? beginInAll(mode)
  begun.set(mode, known)
  return known
}

async function beginInAll(mode: RunMode): Promise<readonly Message[]> {
  let history: readonly Message[] = question
  for (const family of families) {
    const leg = await goOn(family, history, first, mode)
    history = [...leg.history, message('user', 'And once more?')]
  }
  return history
}

/** Thinking that goes back in the second request of the third turn. */
const kept = {
  never: [],
  round: ['delta'],
  'tool-turns': ['beta', 'gamma', 'delta'],
  always: ['alpha', 'beta', 'gamma', 'delta'],
} as const

const dialectCases = dialectProviders.flatMap((to) => runModes.map((mode) => ({ to, mode })))

describe.each(dialectCases)('all families, then $to.name, $mode', ({ to, mode }) => {
  test('takes over and has its own thinking back', async () => {
    const one = await goOn(to, await begunBy(mode), [{ text: 'One.', thought: 'alpha' }], mode)
    const two = await goOn(
      to,
      [...one.history, message('user', 'Two?')],
      [
        { text: 'I look.', thought: 'beta', cities: ['Lima', 'Oslo'] },
        { text: 'Two.', thought: 'gamma' },
      ],
      mode,
    )
    const three = await goOn(
      to,
      [...two.history, message('user', 'Three?')],
      [{ text: 'I look again.', thought: 'delta', cities: ['Rome'] }, { text: 'Three.' }],
      mode,
    )

    expectLegal(to, [...one.sent, ...two.sent, ...three.sent], mode)
    const said = JSON.stringify(three.sent.at(-1))
    const thoughts = kept.always.filter((word) => said.includes(`${to.mark} ${word}`))
    expect(thoughts).toEqual(kept[to.thinking])
    const images = [pixel, chart, 'https://example.com/oslo.png'].map((each) => said.includes(each))
    expect(images).toEqual([to.images !== 'none', to.images !== 'none', to.images === 'any'])
    for (const words of ['mild in Bonn', 'Rome, says the first.', first[1]!.refusal!, 'One.']) {
      expect(said).toContain(words)
    }
  })

  test.each(families)('takes over between the calls of $name and the answer', async (from) => {
    const { history } = await goOn(from, question, first, mode)
    const results = history.findLastIndex(({ role }) => role === 'tool')
    const { client, sent } = play(to, third)
    const options = {
      tools: [weather],
      instructions: 'Be brief.',
      maxOutputTokens: 77,
      responseFormat: 'json',
    } as const
    const input = history.slice(0, results + 1)

    const response = await (mode === 'plain'
      ? client.getResponse(input, options)
      : client.getResponse(input, { ...options, stream: true }).finalResponse())

    expectLegal(to, sent, mode)
    expect(response.text).toBe('Enough, says the first.')
    expect(sent[0]![to.maxTokensField]).toBe(77)
    expect(JSON.stringify(sent[0])).toContain('sunny in Rome')
  })
})
