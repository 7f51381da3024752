/**
 * A connected client of the official SDK, version 1 or 2. Only what Lamella calls is named, so that either
 * version's `Client` fits.
 */
export interface McpClient {
  /** Sends a request and resolves to its result. */
  request(request: never, resultSchema: never, options?: never): Promise<unknown>
  /** Capabilities that the server declared when the connection was made. */
  getServerCapabilities(): object | undefined
  /** Ends the connection. */
  close(): Promise<void>
}

/** Settings of one request. */
export interface McpRequestOptions {
  readonly signal: AbortSignal
  /** Told of progress, in the server's own words. */
  readonly onprogress?: ((progress: unknown) => void) | undefined
  /** The tool as the server listed it: version 2 reads from it what else goes into the headers. */
  readonly toolDefinition?: object | undefined
  /** Returns a question of the server to the caller instead of having the client answer it. */
  readonly allowInputRequired?: boolean | undefined
}

interface SdkClient {
  request(request: object, resultSchema: object, options: object): Promise<object>
  callTool(params: object, options: object): Promise<object>
  /** Version 2 only. */
  getProtocolEra?(): string | undefined
}

/** Callers keep time themselves: a person's answer must not count as the server's silence. */
const noTimeout = 2 ** 31 - 1

/** Sends a request. Results are read leniently, one field after the other, so no schema is applied to them. */
export async function sendRequest(
  client: McpClient,
  method: string,
  params: Readonly<Record<string, unknown>>,
  options: McpRequestOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const sdk = client as unknown as SdkClient
  const settings = { ...options, timeout: noTimeout }
  const result =
    method === 'tools/call' && sdk.getProtocolEra !== undefined
      ? await lenient(sdk).callTool(params, settings)
      : await sdk.request({ method, params }, anyResult, settings)
  return result as Readonly<Record<string, unknown>>
}

/**
 * Version 2 puts arguments into headers only in `callTool`, which has a strict schema for the result: a
 * tool that has run would lose all of it for one field that is null.
 */
function lenient(sdk: SdkClient): SdkClient {
  return Object.create(sdk, {
    request: {
      value: (request: object, options: object) => sdk.request(request, anyResult, options),
    },
  }) as SdkClient
}

/** Returns true if the server declared a capability, such as `tools`. */
export function hasCapability(client: McpClient, name: string): boolean {
  const declared = client.getServerCapabilities() as Readonly<Record<string, unknown>> | undefined
  return declared?.[name] !== undefined
}

/** A schema that accepts anything, for both versions: the first asks zod's way, the second by Standard Schema. */
const anyResult = {
  safeParse: (data: unknown) => ({ success: true, data }),
  '~standard': { version: 1, vendor: 'lamella', validate: (value: unknown) => ({ value }) },
}
