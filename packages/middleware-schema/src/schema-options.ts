import type { ChatClient, ChatContext, InferSchema, Schema } from '@lamella/core'
import type { StandardIssue, MiddlewareOptions } from '@lamella/core/authoring'
import { checkOptions, middlewareRules, wrongOption } from '@lamella/core/authoring'
import type { LocalRepair } from './read-answer.ts'

/** A way to make an answer match the schema: a local repair, or another model call. */
export type RepairStep = LocalRepair | 're-ask'

/** Report about an answer or about tool calls. Contains no content. */
export interface SchemaEvent {
  /** Name of the middleware. */
  readonly middleware: string
  /** The checked text: the final answer, or the arguments of tool calls. */
  readonly of: 'answer' | 'arguments'
  /** True if it matches now, unchanged or repaired. */
  readonly valid: boolean
  /** Repair that made it match; `strict` for an answer that matched unchanged. */
  readonly by?: 'strict' | LocalRepair | undefined
  /** Number of issues that the schema and the rules found. */
  readonly issues: number
  /** Number of model calls so far that asked again. */
  readonly reasks: number
  /** Action of the middleware. */
  readonly action: 'none' | 'repaired' | 're-ask' | 'fallback' | 'throw'
}

/** Options of {@link schemaValidator}. */
export interface SchemaValidatorOptions<S extends Schema = Schema>
  extends MiddlewareOptions<ChatContext, SchemaEvent> {
  /**
   * Schema of the answer: any Standard Schema or a JSON Schema. Becomes the `responseFormat` of model
   * calls that have none.
   * @default the schema of the call's `responseFormat`; a call without one is not checked
   */
  readonly schema?: S | undefined
  /**
   * Repairs for an answer that does not match, always in this order: `extract` finds JSON among other
   * words, `json-repair` mends broken JSON, `coerce` converts scalars to the types of the schema,
   * `re-ask` tells the model what is wrong.
   * @default ['extract', 'json-repair']
   */
  readonly repair?: readonly RepairStep[] | undefined
  /**
   * Maximum number of model calls that ask again, with `re-ask`.
   * @default 1
   */
  readonly maxReasks?: number | undefined
  /**
   * Builds the message that asks the model again.
   * @default the issues with their paths, and a request for JSON alone
   */
  readonly reaskMessage?: ((issues: readonly StandardIssue[]) => string) | undefined
  /** Client for the calls that ask again. @default the client of the call */
  readonly reaskClient?: ChatClient | undefined
  /** Model for the calls that ask again. @default the model of the call */
  readonly reaskModel?: string | undefined
  /** Rules beyond the schema. Their issues count like those of the schema. @default none */
  readonly refine?:
    | ((
        value: InferSchema<S>,
      ) => readonly StandardIssue[] | undefined | Promise<readonly StandardIssue[] | undefined>)
    | undefined
  /**
   * Action for an answer that no repair made match: pass it unchanged (`'raw'`), fail the model call
   * with `schema_invalid` (`'throw'`), or answer with a value of your own (`{ fallback }`).
   * @default 'raw'
   */
  readonly onFailure?:
    | 'raw'
    | 'throw'
    | {
        /** Value of the answer instead, or a function that makes it from the issues. */
        readonly fallback: InferSchema<S> | ((issues: readonly StandardIssue[]) => InferSchema<S>)
      }
    | undefined
  /**
   * Repairs arguments of tool calls that do not match the tool's parameters as well, without asking
   * again.
   * @default false
   */
  readonly toolCalls?: boolean | undefined
  /**
   * Longest broken JSON in characters that `jsonrepair` reads: its time grows faster than the length of a
   * hostile text. A simpler, linear reader repairs longer texts.
   * @default 4000
   */
  readonly maxRepairChars?: number | undefined
  /**
   * Called with the value so far while the answer arrives. Middleware further out has not seen it yet: to
   * show it to a user, use `partialValues` with the stream. Errors that it throws are ignored.
   */
  readonly onPartial?: ((value: unknown, context: ChatContext) => void) | undefined
}

const steps: readonly RepairStep[] = ['extract', 'json-repair', 'coerce', 're-ask']

/** @throws TypeError or RangeError that names the option and the value */
export function checkSchemaOptions(options: SchemaValidatorOptions): void {
  const owner = 'schemaValidator'
  if ('~standard' in Object(options))
    throw wrongOption(owner, 'schema', 'given, as { schema }', undefined)
  const isMode = typeof Object(options).onFailure === 'string'
  checkOptions(owner, options, {
    ...middlewareRules,
    schema: 'any',
    repair: 'any',
    maxReasks: 0,
    reaskMessage: 'function?',
    reaskClient: 'any',
    reaskModel: 'string?',
    refine: 'function?',
    onFailure: isMode ? ['raw', 'throw'] : { fallback: 'any' },
    toolCalls: [true, false],
    maxRepairChars: 0,
    onPartial: 'function?',
  })
  const { schema, repair, onFailure, reaskClient } = options
  if (schema !== undefined && !('~standard' in Object(schema))) {
    throw wrongOption(owner, 'schema', 'a Standard Schema or `jsonSchema({ … })`', schema)
  }
  const isList = Array.isArray(repair) && repair.every((step) => steps.includes(step))
  if (repair !== undefined && !isList) {
    throw wrongOption(owner, 'repair', `a list of ${steps.join(', ')}`, repair)
  }
  if (reaskClient !== undefined && typeof reaskClient?.getResponse !== 'function') {
    throw wrongOption(owner, 'reaskClient', 'a chat client', reaskClient)
  }
  if (!isMode && onFailure !== undefined && !('fallback' in Object(onFailure))) {
    throw wrongOption(owner, 'onFailure', "'raw', 'throw' or an object with `fallback`", onFailure)
  }
}
