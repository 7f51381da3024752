import type {
  ChatOptions,
  Content,
  Message,
  Schema,
  ToolChoice,
  ToolDefinition,
} from '@lamella/core'
import { jsonSchema, message, tool } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { listOf, recordOf, stringOf } from '@lamella/transport'
import { invalidInput } from '../http/read-json.ts'

/** A request of either API. */
export interface OpenAIRequest {
  readonly model: string
  readonly stream: boolean
  readonly includeUsage: boolean
  readonly instructions: string | undefined
  readonly messages: readonly Message[]
  readonly options: ChatOptions
}

/** Reads the body of `POST /chat/completions`. Fields that are not known are ignored. */
export function completionsRequest(body: unknown): OpenAIRequest {
  const fields = recordOf(body)
  const streamOptions = recordOf(fields['stream_options'])
  const format = recordOf(fields['response_format'])
  return {
    ...shared(fields),
    includeUsage: streamOptions['include_usage'] === true,
    instructions: undefined,
    messages: conversationOf(
      'messages',
      listOf(fields['messages']).flatMap((entry) => readMessage(recordOf(entry))),
    ),
    options: {
      ...optionsOf(fields),
      ...defined({
        maxOutputTokens: numberOf(fields['max_completion_tokens'] ?? fields['max_tokens']),
        stop: stopOf(fields['stop']),
        seed: numberOf(fields['seed']),
        reasoning: reasoningOf({ effort: fields['reasoning_effort'] }),
        responseFormat: formatOf(format, recordOf(format['json_schema'])),
        tools: toolsOf(fields['tools'], (entry) => recordOf(entry['function'])),
        toolChoice: choiceOf(fields['tool_choice'], (entry) => recordOf(entry['function'])),
      }),
    },
  }
}

/** Reads the body of `POST /responses`. */
export function responsesRequest(body: unknown): OpenAIRequest {
  const fields = recordOf(body)
  for (const name of ['previous_response_id', 'conversation', 'background']) {
    if (fields[name] === undefined || fields[name] === null || fields[name] === false) continue
    throw invalidInput(`\`${name}\` is not supported: send the whole conversation as \`input\``)
  }
  const { input } = fields
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input)
  const format = recordOf(recordOf(fields['text'])['format'])
  return {
    ...shared(fields),
    includeUsage: true,
    instructions: stringOf(fields['instructions']),
    messages: conversationOf(
      'input',
      items.flatMap((item) => readItem(recordOf(item))),
    ),
    options: {
      ...optionsOf(fields),
      ...defined({
        maxOutputTokens: numberOf(fields['max_output_tokens']),
        reasoning: reasoningOf(recordOf(fields['reasoning'])),
        responseFormat: formatOf(format, format),
        tools: toolsOf(fields['tools'], (entry) => entry),
        toolChoice: choiceOf(fields['tool_choice'], (entry) => entry),
      }),
    },
  }
}

function shared(fields: WireObject): Pick<OpenAIRequest, 'model' | 'stream'> {
  const model = stringOf(fields['model'])
  if (model === undefined) throw invalidInput('`model` is missing')
  return { model, stream: fields['stream'] === true }
}

function optionsOf(fields: WireObject): ChatOptions {
  return defined({
    temperature: numberOf(fields['temperature']),
    topP: numberOf(fields['top_p']),
    allowParallelToolCalls:
      typeof fields['parallel_tool_calls'] === 'boolean'
        ? fields['parallel_tool_calls']
        : undefined,
    user: stringOf(fields['user']),
  })
}

function stopOf(stop: unknown): readonly string[] | undefined {
  if (stop === undefined || stop === null) return undefined
  const texts = typeof stop === 'string' ? [stop] : stop
  if (Array.isArray(texts) && texts.every((text) => typeof text === 'string')) return texts
  throw invalidInput('`stop` must be a text or a list of texts')
}

function reasoningOf({ effort, summary }: WireObject): ChatOptions['reasoning'] {
  const known = defined({ effort: stringOf(effort), summary: stringOf(summary) })
  return Object.keys(known).length === 0 ? undefined : (known as ChatOptions['reasoning'])
}

/** @throws HttpFailure 400 without any message */
function conversationOf(name: string, messages: Message[]): readonly Message[] {
  if (messages.length > 0) return messages
  throw invalidInput(`\`${name}\` must be a list with a message`)
}

function readMessage(entry: WireObject): Message[] {
  const { role, content } = entry
  if (role === 'system' || role === 'developer') return [message('system', partsOf(content))]
  if (role === 'user') return [message('user', partsOf(content))]
  if (role === 'tool') {
    const callId = stringOf(entry['tool_call_id']) ?? ''
    return [message('tool', { type: 'function-result', callId, contents: partsOf(content) })]
  }
  if (role !== 'assistant') throw invalidInput('a message has a role that is not known')
  const refusal = stringOf(entry['refusal'])
  const calls = listOf(entry['tool_calls']).map((one): Content => {
    const call = recordOf(one)
    return callOf(call['id'], recordOf(call['function']))
  })
  return [
    message('assistant', [
      ...partsOf(content),
      ...(refusal === undefined ? [] : [{ type: 'refusal', text: refusal } as const]),
      ...calls,
    ]),
  ]
}

function readItem(item: WireObject): Message[] {
  const { type, output } = item
  if (type === 'function_call') return [message('assistant', callOf(item['call_id'], item))]
  if (type === 'function_call_output') {
    const callId = stringOf(item['call_id']) ?? ''
    return [message('tool', { type: 'function-result', callId, contents: partsOf(output) })]
  }
  // Reasoning and hosted items belong to the provider that made them.
  if (type !== undefined && type !== 'message') return []
  return readMessage(item)
}

function callOf(id: unknown, { name, arguments: args }: WireObject): Content {
  return {
    type: 'function-call',
    callId: stringOf(id) ?? '',
    name: stringOf(name) ?? '',
    arguments: stringOf(args) ?? '{}',
  }
}

function partsOf(content: unknown): readonly Content[] {
  if (content === null || content === undefined) return []
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return listOf(content).map((part) => partOf(recordOf(part)))
}

function partOf(part: WireObject): Content {
  const { type } = part
  const text = stringOf(part['text'])
  if (text !== undefined) return { type: 'text', text }
  if (type === 'refusal') return { type, text: stringOf(part['refusal']) ?? '' }
  if (type === 'image_url' || type === 'input_image') {
    const address = part['image_url']
    return fileOf(stringOf(recordOf(address)['url']) ?? stringOf(address) ?? '', 'image/*')
  }
  if (type === 'input_audio') {
    const { data, format } = recordOf(part['input_audio'])
    const mediaType = format === 'mp3' ? 'audio/mpeg' : 'audio/wav'
    return { type: 'data', mediaType, data: stringOf(data) ?? '' }
  }
  if (type === 'file' || type === 'input_file') {
    const { file_data: data, filename } = type === 'file' ? recordOf(part['file']) : part
    const name = stringOf(filename)
    return {
      ...fileOf(stringOf(data) ?? '', 'application/pdf'),
      ...(name !== undefined && { name }),
    }
  }
  throw invalidInput('a part of a message has a type that is not known')
}

function fileOf(address: string, mediaType: string): Content {
  const [, media, data] = /^data:([\w.+-]+\/[\w.+-]+)[^,]*;base64,(.*)$/s.exec(address) ?? []
  if (data !== undefined) return { type: 'data', mediaType: media!, data }
  if (!/^https:\/\//i.test(address)) throw invalidInput('a file must be base64 or an https address')
  return { type: 'uri', uri: address, mediaType }
}

function toolsOf(
  tools: unknown,
  functionOf: (entry: WireObject) => WireObject,
): readonly ToolDefinition[] | undefined {
  if (tools === undefined || tools === null) return undefined
  return listOf(tools).map((one) => {
    const entry = recordOf(one)
    if (entry['type'] !== 'function') throw invalidInput('tools must be of type `function`')
    const { name, description, parameters, strict } = functionOf(entry)
    try {
      return tool({
        name: stringOf(name) ?? '',
        description: stringOf(description) ?? '',
        ...(parameters !== undefined &&
          parameters !== null && { parameters: jsonSchema(recordOf(parameters)) }),
        ...(typeof strict === 'boolean' && { metadata: { strict } }),
      })
    } catch {
      throw invalidInput('a tool has a name or parameters that are not valid')
    }
  })
}

function choiceOf(
  choice: unknown,
  functionOf: (entry: WireObject) => WireObject,
): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  const functionName = stringOf(functionOf(recordOf(choice))['name'])
  return functionName === undefined ? undefined : { mode: 'required', functionName }
}

function formatOf({ type }: WireObject, { schema, name, strict }: WireObject): unknown {
  if (type === 'json_object') return 'json'
  if (type !== 'json_schema') return undefined
  const isStrict = typeof strict === 'boolean' ? strict : undefined
  return defined({
    schema: schemaOf(schema),
    name: stringOf(name),
    strict: isStrict,
  })
}

function schemaOf(schema: unknown): Schema {
  try {
    return jsonSchema(recordOf(schema))
  } catch {
    throw invalidInput('the schema of the response format is not valid')
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function defined(fields: object): ChatOptions {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(known) as ChatOptions
}
