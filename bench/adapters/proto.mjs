// No framework: a sketch of the work that a real one cannot leave out (contexts, a guarded next(),
// message and content objects, usage totals, argument checks, an abort check, a stream with fused
// transforms), to see which ratio over the floor is within reach.
import {
  chunkText,
  counters,
  decide,
  expectedMiddlewares,
  nextNumber,
  repeat,
  toolName,
  toolSchema,
  userText,
} from '../lib/toolkit.mjs'

class Message {
  constructor(role, contents) {
    this.role = role
    this.contents = contents
    this.id = undefined
    this.raw = undefined
  }

  get text() {
    let text = ''
    for (const content of this.contents) if (content.type === 'text') text += content.text
    return text
  }
}

function chatResponse(messages, finishReason, usage) {
  return { messages, finishReason, usage, id: undefined, raw: undefined }
}

function makeContext(subject, input, options) {
  return { subject, input, options, metadata: undefined, result: undefined }
}

/** Each middleware gets a next() that may be called once. */
function pipeline(middlewares, core) {
  return middlewares.reduceRight((inner, middleware) => {
    return (context) => {
      let called = false
      return middleware(context, () => {
        if (called) throw new Error('next() was called twice')
        called = true
        return inner(context)
      })
    }
  }, core)
}

function checkArguments(schema, value) {
  for (const name of schema.required) {
    if (typeof value[name] !== schema.properties[name].type) throw new TypeError(name)
  }
  return value
}

class Agent {
  constructor({ client, tools, agentMiddlewares = [], chatMiddlewares, functionMiddlewares = [] }) {
    this.client = client
    this.tools = new Map(tools.map((tool) => [tool.name, tool]))
    this.defaults = { tools, toolChoice: 'auto', signal: undefined }
    this.chat = pipeline(chatMiddlewares, async (context) => {
      context.result = await context.subject.respond(context.input, context.options)
    })
    this.function = pipeline(functionMiddlewares, async (context) => {
      context.result = await context.subject.execute(context.input)
    })
    this.agent = pipeline(agentMiddlewares, (context) => this.loop(context))
  }

  async run(messages) {
    const context = makeContext(this, messages, this.defaults)
    await this.agent(context)
    return context.result
  }

  async loop(context) {
    const { options } = context
    const messages = [...context.input]
    const usage = { input: 0, output: 0, total: 0 }
    for (let iteration = 0; iteration < 1000; iteration++) {
      options.signal?.throwIfAborted()
      const call = makeContext(this.client, messages, options)
      await this.chat(call)
      const response = call.result
      for (const counter of Object.keys(usage)) usage[counter] += response.usage[counter]
      const calls = []
      for (const message of response.messages) {
        messages.push(message)
        for (const content of message.contents) {
          if (content.type === 'function-call') calls.push(content)
        }
      }
      if (calls.length === 0) {
        const added = messages.slice(context.input.length)
        context.result = chatResponse(added, response.finishReason, usage)
        return
      }
      const results =
        calls.length === 1
          ? [await this.invoke(calls[0])]
          : await Promise.all(calls.map((each) => this.invoke(each)))
      messages.push(new Message('tool', results))
    }
    throw new Error('too many rounds')
  }

  async invoke({ callId, name, arguments: text }) {
    const tool = this.tools.get(name)
    if (tool === undefined) return functionResult(callId, undefined, 'unknown tool')
    try {
      const args = checkArguments(tool.schema, JSON.parse(text))
      const context = makeContext(tool, args, undefined)
      await this.function(context)
      return functionResult(callId, context.result)
    } catch (error) {
      return functionResult(callId, undefined, error)
    }
  }
}

function functionResult(callId, result, error) {
  return { type: 'function-result', callId, result, error }
}

const callUsage = { input: 10, output: 5, total: 15 }
const messages = [new Message('user', [{ type: 'text', text: userText }])]

function fakeClient(script) {
  return {
    async respond(prompt) {
      const last = prompt.at(-1)
      const results = last.role === 'tool' ? last.contents.map(({ result }) => result) : null
      const { text, calls } = decide(results, script)
      const contents = calls?.map(({ id, name, args }) => ({
        type: 'function-call',
        callId: id,
        name,
        arguments: JSON.stringify(args),
      })) ?? [{ type: 'text', text }]
      const finishReason = calls === undefined ? 'stop' : 'tool-calls'
      return chatResponse([new Message('assistant', contents)], finishReason, callUsage)
    },
  }
}

const middlewares = (k, name) =>
  repeat(k, () => async (_context, next) => {
    counters[name]++
    await next()
  })

const tool = { name: toolName, schema: toolSchema, execute: async ({ n }) => nextNumber(n) }

/** Transforms run fused: one promise per chunk on top of the source. */
class ResponseStream {
  #source
  #transforms
  #text = ''
  #apply = (step) => {
    if (step.done) return step
    for (const transform of this.#transforms) step.value = transform(step.value)
    this.#text += step.value.text
    return step
  }

  constructor(source, transforms) {
    this.#source = source
    this.#transforms = transforms
  }

  [Symbol.asyncIterator]() {
    return this
  }

  next() {
    return this.#source.next().then(this.#apply)
  }

  finalResponse() {
    const message = new Message('assistant', [{ type: 'text', text: this.#text }])
    return chatResponse([message], 'stop', callUsage)
  }
}

async function* textUpdates(chunks) {
  for (let index = 0; index < chunks; index++) {
    counters.produced++
    yield { type: 'text', text: chunkText(index) }
  }
}

export default {
  modelCall({ k }) {
    const chatMiddlewares = middlewares(k, 'modelMw')
    const agent = new Agent({ client: fakeClient({}), tools: [], chatMiddlewares })
    return {
      run: async () => (await agent.run(messages)).messages[0].text,
      expect: { modelMw: k },
    }
  },

  agentRun({ k, rounds, parallel }) {
    const agent = new Agent({
      client: fakeClient({ rounds, parallel }),
      tools: [tool],
      agentMiddlewares: middlewares(k, 'agentMw'),
      chatMiddlewares: middlewares(k, 'modelMw'),
      functionMiddlewares: middlewares(k, 'toolMw'),
    })
    return {
      run: async () => (await agent.run(messages)).messages.at(-1).text,
      expect: expectedMiddlewares({ k, rounds, parallel }),
    }
  },

  stream({ chunks, k }) {
    const transforms = repeat(k, () => (chunk) => {
      counters.streamMw++
      return chunk
    })
    return {
      async run(onChunk) {
        const stream = new ResponseStream(textUpdates(chunks), transforms)
        for await (const chunk of stream) {
          const waiting = onChunk(chunk.text)
          if (waiting) await waiting
        }
        return stream.finalResponse().messages[0].text
      },
      expect: { streamMw: k * chunks },
    }
  },
}
