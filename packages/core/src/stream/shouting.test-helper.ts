import type { ChatResponseUpdate, UpdateTransformer } from '../index.ts'

/** A transform that makes all text upper case, so that a test sees what has passed it. */
export const shouting: UpdateTransformer<ChatResponseUpdate> = {
  transform: (update, controller) =>
    controller.enqueue({
      ...update,
      contents: update.contents.map((part) =>
        part.type === 'text' ? { ...part, text: part.text.toUpperCase() } : part,
      ),
    }),
}
