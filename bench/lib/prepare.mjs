import { counters, expectedStreamText, expectedText } from './toolkit.mjs'

/** Adds to what an adapter made of a scenario what its outputs and counters must be. */
export function prepare({ run, expect }, method, params) {
  if (method === 'stream') return prepareStream(run, expect, params)
  const { rounds = 0, parallel = 1 } = params
  return {
    run,
    text: expectedText({ rounds, parallel }),
    expect: { model: rounds + 1, tool: rounds * parallel, ...expect },
    step: 1,
  }
}

function prepareStream(run, expect, { chunks }) {
  const text = expectedStreamText(chunks)
  const checked = async () => {
    let seen = 0
    let length = 0
    const final = await run((chunk) => {
      seen++
      length += chunk.length
    })
    if (seen !== chunks || length !== text.length) {
      throw new Error(`the consumer saw ${seen} chunks of ${length} characters in all`)
    }
    return final
  }
  return { run: checked, stream: run, text, expect: { ...expect, produced: chunks }, step: 1 }
}

export function checkText(got, wanted) {
  if (got !== wanted) throw new Error(`got the text ${JSON.stringify(got)?.slice(0, 200)}`)
}

export function checkCounters(expect, ops) {
  for (const [name, perOp] of Object.entries(expect)) {
    if (counters[name] !== perOp * ops) {
      throw new Error(`${name} is ${counters[name]} after ${ops} runs, wanted ${perOp} each`)
    }
  }
}
