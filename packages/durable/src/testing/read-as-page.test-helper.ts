import type { AgentResponseUpdate } from '@lamella/core'
import { foldUpdates } from '@lamella/core'
import type { StoredUpdates } from '../updates/stored-updates.ts'

/** Reads a run to its end as a page does, which reads again when a person has answered. */
export async function readAsPage(
  updates: StoredUpdates,
  workflowId: string,
): Promise<{ readonly text: string; readonly ended: string }> {
  let answered: string | undefined
  for (;;) {
    const stream = updates.read(workflowId, { answered })
    const all: AgentResponseUpdate[] = []
    for await (const update of stream) all.push(update)
    const { status, pending, text: ended } = await stream.finalResponse()
    if (status !== 'paused') return { text: foldUpdates(all).text, ended }
    answered = pending[0]!.id
  }
}
