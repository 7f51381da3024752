import { expect, it } from 'vitest'
import { tracing } from './tracing.ts'
import type { TracingOptions } from './base/tracing-options.ts'

const wrong: readonly (readonly [Record<string, unknown>, string])[] = [
  [{ semconv: '1.2' }, 'tracing: `semconv` must be one of 1.36, 1.45, got "1.2"'],
  [{ mode: 'loud' }, 'tracing: `mode` must be one of enforce, shadow, off, got "loud"'],
  [{ captureContent: true }, 'tracing: `captureContent` must be one of none, attributes, events'],
  [{ semconv: '1.36', captureContent: 'attributes' }, 'tracing: `captureContent` must be'],
  [{ sampleContent: 2 }, 'tracing: `sampleContent` must be a number from 0 to 1, got 2'],
  [{ sampleContent: Number.NaN }, 'tracing: `sampleContent` must be a number from 0 to 1, got NaN'],
  [
    { maxAttributeBytes: 3 },
    'tracing: `maxAttributeBytes` must be a whole number from 64 up, got 3',
  ],
  [{ redact: /x/ }, 'tracing: `redact` must be a function'],
  [{ cost: 3 }, 'tracing: `cost` must be a function, got 3'],
  [{ log: 'yes' }, 'tracing: `log` must be a function, got "yes"'],
  [{ diagnosticsChannel: 7 }, 'tracing: `diagnosticsChannel` must be a string, got 7'],
  [{ events: [1] }, 'tracing: `events` must be a list of types, got a list'],
  [{ level: 'run' }, 'tracing: `level` must be one of agent, chat, got "run"'],
  [{ metrics: 'some' }, 'tracing: `metrics` must be one of true, false, got "some"'],
]

it.each(wrong)('wrong options throw and are named: %o', (options, message) => {
  expect(() => tracing(options as TracingOptions)).toThrow(message)
})
