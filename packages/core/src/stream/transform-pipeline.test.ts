import { expect, it } from 'vitest'
import type { StreamUpdate } from './transform-pipeline.ts'
import { TransformPipeline } from './transform-pipeline.ts'

const update: StreamUpdate = { contents: ['one'], raw: 'own' }

it('an update that a transform passes on as it is keeps its `raw`, and others have none', () => {
  const adding = new TransformPipeline<StreamUpdate>([
    {
      transform(given, controller) {
        controller.enqueue(given)
        controller.enqueue({ contents: ['more'], raw: 'other' })
      },
    },
  ])
  const out: StreamUpdate[] = []

  void adding.pass(update, out)

  expect(out).toEqual([update, { contents: ['more'], raw: undefined }])
  expect(adding.changed).toBe(true)
})

it('a transform that takes its time and passes an update on changes nothing', async () => {
  const slow = new TransformPipeline<StreamUpdate>([
    {
      async transform(given, controller) {
        await Promise.resolve()
        controller.enqueue(given)
      },
    },
  ])
  const out: StreamUpdate[] = []

  await slow.pass(update, out)

  expect([out, slow.changed]).toEqual([[update], false])
})

it('transforms outside of one that ends the updates still add theirs at the end', () => {
  const cut = new TransformPipeline<StreamUpdate>([
    { transform: (_, controller) => controller.terminate() },
    { flush: (controller) => controller.enqueue({ contents: ['the end'] }) },
  ])
  const out: StreamUpdate[] = []

  void cut.pass(update, out)
  void cut.flush(out)

  expect(out).toEqual([{ contents: ['the end'] }])
})
