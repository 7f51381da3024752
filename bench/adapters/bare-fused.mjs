// A second floor for streams: the transforms of all middlewares are plain functions in one loop per
// chunk, in an async iterator written by hand.
import { counters, repeat } from '../lib/toolkit.mjs'
import { textChunks } from './bare.mjs'

export default {
  stream({ chunks, k }) {
    const transforms = repeat(k, () => (chunk) => {
      counters.streamMw++
      return chunk
    })
    const apply = (step) => {
      if (!step.done) for (const transform of transforms) step.value = transform(step.value)
      return step
    }
    const fuse = (source) => ({
      [Symbol.asyncIterator]() {
        return this
      },
      next: () => source.next().then(apply),
    })
    return {
      async run(onChunk) {
        let text = ''
        for await (const chunk of fuse(textChunks(chunks))) {
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
