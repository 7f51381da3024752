import { expect, it } from 'vitest'
import { isLong } from '../../../tests/support/runs.ts'
import { playInboxes } from './inbox-world.test-helper.ts'

// Random conversations, in which a user talks while runs work, pause, fail, reach their limits and die. Invariants: each
// message is added once, in order, after the guardrails have judged it, and never between a call and its result;
// each sender hears what became of it, and a delivered one is in the conversation.
const seeds = isLong ? 1500 : 40

it(
  'messages to a run are delivered once, in order, judged, and none is lost in silence',
  async () => {
    const told = await playInboxes(seeds)

    if (isLong) console.log(told)
    expect(Math.min(told.delivered, told['not-delivered'])).toBeGreaterThan(seeds)
  },
  60_000 + seeds * 500,
)
