/** A request that the API refuses; its fields are those of OpenAI's error object. */
export class WireRejection extends Error {
  readonly status: number
  readonly type: string
  readonly code: string | null
  readonly param: string | null

  constructor(
    status: number,
    message: string,
    { type = 'invalid_request_error', code = null, param = null }: Partial<ErrorFields> = {},
  ) {
    super(message)
    this.status = status
    this.type = type
    this.code = code
    this.param = param
  }

  override get name(): string {
    return 'WireRejection'
  }

  /** As it goes over the wire. */
  toJSON(): { readonly error: ErrorFields & { readonly message: string } } {
    const { message, type, param, code } = this
    return { error: { message, type, param, code } }
  }
}

interface ErrorFields {
  readonly type: string
  readonly code: string | null
  readonly param: string | null
}

/** Error that OpenAI sends with a status, in its words of 2026. */
export function usualRejection(status: number): WireRejection {
  const [message, fields] = usual[status] ?? [`The request failed with status ${status}.`, {}]
  return new WireRejection(status, message, {
    ...(status >= 500 && { type: 'server_error' }),
    ...fields,
  })
}

const usual: Readonly<Record<number, readonly [string, Partial<ErrorFields>]>> = {
  400: ['The request is not valid.', {}],
  401: ['Incorrect API key provided.', { code: 'invalid_api_key' }],
  403: ['You are not allowed to use this model.', { code: 'permission_denied' }],
  404: ['The model does not exist or you do not have access to it.', { code: 'model_not_found' }],
  408: ['Request timed out.', { code: 'request_timeout' }],
  429: ['Rate limit reached for requests.', { type: 'requests', code: 'rate_limit_exceeded' }],
  500: ['The server had an error while processing your request.', { code: 'server_error' }],
  503: [
    'The engine is currently overloaded, please try again later.',
    { code: 'engine_overloaded' },
  ],
}
