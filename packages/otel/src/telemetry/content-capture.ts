import type { Message, RunContext } from '@lamella/core'
import type { Span } from '@opentelemetry/api'
import type { Conventions, Facts } from '../base/conventions.ts'
import { limitedJson } from '../base/limited-json.ts'
import { conventionalMessages, parsed } from '../base/message-parts.ts'
import type { TracingOptions } from '../base/tracing-options.ts'

/** Content of one operation. */
export interface Content {
  readonly instructions?: string | undefined
  readonly input?: readonly Message[] | undefined
  readonly output?: readonly Message[] | undefined
  readonly finishReason?: string | undefined
  readonly arguments?: unknown
  readonly result?: unknown
  /** Of an error. */
  readonly message?: string | undefined
}

/** Writes content on spans, if captured. */
export class ContentCapture {
  readonly #options: TracingOptions
  readonly #conventions: Conventions

  constructor(options: TracingOptions, conventions: Conventions) {
    this.#options = options
    this.#conventions = conventions
  }

  /**
   * Decides whether to capture the content of a run that begins: by its id, so that it is the same where the run
   * continues in another process.
   */
  decide(run: RunContext): boolean {
    const {
      captureContent = 'none',
      sampleContent = 1,
      random = () => shareOf(run),
    } = this.#options
    if (captureContent === 'none' || sampleContent === 0) return false
    return sampleContent === 1 || random() < sampleContent
  }

  write(span: Span, content: Content): void {
    if (content.message !== undefined) {
      span.addEvent('exception', { 'exception.message': this.#json(this.#clean(content.message)) })
    }
    const facts = this.#facts(content)
    if (this.#options.captureContent === 'attributes') {
      span.setAttributes(this.#conventions.attributes(facts))
    } else if (this.#conventions.version === '1.36') {
      this.#writeOldEvents(span, content)
    } else if (Object.values(facts).some((fact) => fact !== undefined)) {
      const isTool = content.arguments !== undefined || content.result !== undefined
      const name = isTool ? 'lamella.execute_tool.details' : detailsEvent
      span.addEvent(name, this.#conventions.attributes(facts))
    }
  }

  #facts({ instructions, input, output, finishReason, arguments: args, result }: Content): Facts {
    const clean = (text: string): string => this.#clean(text)
    return {
      'gen_ai.system_instructions':
        instructions && this.#json([{ type: 'text', content: clean(instructions) }]),
      'gen_ai.input.messages': input && this.#json(conventionalMessages(input, clean)),
      'gen_ai.output.messages':
        output && this.#json(conventionalMessages(output, clean, finishReason)),
      'gen_ai.tool.call.arguments': this.#value(args),
      'gen_ai.tool.call.result': this.#value(result),
    }
  }

  /** Up to 1.36 there is an event for each message. */
  #writeOldEvents(span: Span, { input = [], output = [], finishReason, result }: Content): void {
    const clean = (text: string): string => this.#clean(text)
    for (const message of input) {
      const [form] = conventionalMessages([message], clean)
      span.addEvent(`gen_ai.${message.role}.message`, { content: this.#json(form) })
    }
    for (const form of conventionalMessages(output, clean, finishReason)) {
      span.addEvent('gen_ai.choice', { content: this.#json(form) })
    }
    if (result !== undefined) {
      span.addEvent('gen_ai.tool.message', { content: this.#value(result) ?? '' })
    }
  }

  #value(value: unknown): string | undefined {
    if (value === undefined) return undefined
    return this.#json(parsed(this.#clean(JSON.stringify(value))))
  }

  #json(value: unknown): string {
    return limitedJson(value, this.#options.maxAttributeBytes ?? 8192)
  }

  #clean(text: string): string {
    try {
      return this.#options.redact?.(text) ?? text
    } catch {
      return '[not redacted]'
    }
  }
}

const detailsEvent = 'gen_ai.client.inference.operation.details'

/** Returns a number from 0 to below 1 that a run keeps. Its numbers may be no part: a run is the same without telemetry. */
function shareOf({ id }: RunContext): number {
  // FNV-1a, then mixed, since ids may differ in their last character only.
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(id)) hash = Math.imul(hash ^ byte, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
