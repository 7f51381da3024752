// The floor of `bare`, in middlewares that keep what DESIGN promises of one and do nothing else: each has a
// view of its own, its callNext() resolves to the result and may not be called while it is running, and
// its transforms are handed a controller. Shows how much of a target the promises themselves take.
import { onionAdapter } from '../lib/onion-adapter.mjs'
import { counters, repeat } from '../lib/toolkit.mjs'
import { textChunks } from './bare.mjs'

class View {
  inside = undefined

  constructor(call, depth, input) {
    this.call = call
    this.depth = depth
    this.input = input
  }
}

function onion(k, name, core) {
  const middlewares = repeat(k, () => async (_view, next) => {
    counters[name]++
    await next()
  })

  async function innermost({ call, input }) {
    call.result = await core(input)
  }

  function enter(view, caller) {
    const middleware = middlewares[view.depth]
    const running =
      middleware === undefined ? innermost(view) : middleware(view, () => callNext(view))
    return running.then(
      () => {
        if (caller !== undefined) caller.inside = undefined
        return view.call.result
      },
      (error) => {
        if (caller !== undefined) caller.inside = undefined
        throw error
      },
    )
  }

  function callNext(view) {
    if (view.inside !== undefined) throw new Error('an earlier call was still running')
    return (view.inside = enter(new View(view.call, view.depth + 1, view.input), view))
  }

  return (input) => enter(new View({ result: undefined }, 0, input), undefined)
}

class Controller {
  count = 0
  update = undefined

  enqueue(update) {
    this.count++
    if (this.update !== update) this.update = update
  }
}

/** Each transform passes one update on: whatever else it may do is left out. */
function transformed(source, transforms) {
  const controller = new Controller()
  const apply = (step) => {
    if (step.done) return step
    for (const transform of transforms) {
      controller.count = 0
      transform.transform(step.value, controller)
      if (controller.count !== 1) throw new Error('a transform must pass one update on')
      if (controller.update !== step.value) step.value = controller.update
    }
    return step
  }
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: () => source.next().then(apply),
  }
}

export default {
  ...onionAdapter(onion),

  stream({ chunks, k }) {
    const transforms = repeat(k, () => ({
      transform(update, controller) {
        counters.streamMw++
        controller.enqueue(update)
      },
    }))
    return {
      async run(onChunk) {
        let text = ''
        for await (const chunk of transformed(textChunks(chunks), transforms)) {
          text += chunk.text
          const waiting = onChunk(chunk.text)
          if (waiting) await waiting
        }
        return text
      },
      expect: { streamMw: k * chunks },
    }
  },
}
