// What every adapter shares: the script of the fake model, the tool, and the counters. An adapter
// only translates between these and the types of its peer, so all peers do the same work.

/** What really ran. The worker sets it to zero before a batch and checks it afterwards. */
export const counters = {
  model: 0,
  tool: 0,
  agentMw: 0,
  modelMw: 0,
  toolMw: 0,
  streamMw: 0,
  produced: 0,
}

export function resetCounters() {
  for (const name of Object.keys(counters)) counters[name] = 0
}

export const userText = 'Please count for me, step by step, and tell me when you are done.'
export const toolName = 'next_number'
export const toolDescription = 'Returns the number that follows n.'
export const toolSchema = {
  type: 'object',
  properties: { n: { type: 'number' } },
  required: ['n'],
  additionalProperties: false,
}

const plainAnswer = 'The answer of the fake model.'

/** The tool itself. */
export function nextNumber(n) {
  if (typeof n !== 'number') throw new TypeError(`n must be a number, got ${typeof n}`)
  counters.tool++
  return n + 1
}

/**
 * The fake model: asks for `parallel` tool calls a turn, `rounds` times, then answers. It keeps no
 * state: the round is read from the `results` of the last turn, in call order (null when the user
 * spoke last), which proves that they reached the model.
 */
export function decide(results, { rounds = 0, parallel = 1 }) {
  counters.model++
  const round = results === null ? 0 : results[0]
  if (results !== null) {
    const isRight = results.every((result, call) => result === call * 1000 + round)
    if (results.length !== parallel || !isRight) {
      throw new Error(`the model saw the tool results ${results}, wanted ${parallel} of one round`)
    }
  }
  if (round >= rounds) return { text: expectedText({ rounds, parallel }) }
  const calls = Array.from({ length: parallel }, (_, call) => ({
    id: `call_${round}_${call}`,
    name: toolName,
    args: { n: call * 1000 + round },
  }))
  return { calls }
}

export function expectedText({ rounds = 0, parallel = 1 }) {
  return rounds === 0 ? plainAnswer : `done:${rounds}x${parallel}`
}

/** What a run of a scenario must have counted at the three levels with `k` middlewares each. */
export function expectedMiddlewares({ k, rounds, parallel }) {
  return { agentMw: k, modelMw: k * (rounds + 1), toolMw: k * rounds * parallel }
}

export function repeat(count, make) {
  return Array.from({ length: count }, make)
}

const chunkTexts = repeat(16, (_, index) => `chunk-${index.toString(16)} `)

/** What the fake model streams as its chunk number `index`: eight characters. */
export function chunkText(index) {
  return chunkTexts[index & 15]
}

export function expectedStreamText(chunks) {
  return chunkTexts.join('').repeat(chunks >> 4) + chunkTexts.slice(0, chunks & 15).join('')
}
