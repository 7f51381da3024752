// A floor for onions: koa-compose around the model call, tool call and loop of `bare`. Its middlewares
// return no value, so results sit on the context.
import compose from 'koa-compose'
import { onionAdapter } from '../lib/onion-adapter.mjs'
import { counters, repeat } from '../lib/toolkit.mjs'

function onion(k, name, core) {
  const middleware = () => async (_context, next) => {
    counters[name]++
    await next()
  }
  const innermost = async (context) => {
    context.result = await core(context.input)
  }
  const run = compose([...repeat(k, middleware), innermost])
  return async (input) => {
    const context = { input, result: undefined }
    await run(context)
    return context.result
  }
}

export default onionAdapter(onion)
