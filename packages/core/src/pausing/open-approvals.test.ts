import { expect, it } from 'vitest'
import type { ApprovalRequestContent } from '../messages/content.ts'
import type { Run } from '../run/run.ts'
import { closeRequests, OpenApprovals } from './open-approvals.ts'

const request = (id: string): ApprovalRequestContent => ({
  type: 'approval-request',
  id,
  call: { type: 'function-call', callId: id, name: 'pay', arguments: '{}' },
})

it('the last ten thousand requests are open, without those that were answered', () => {
  const open = new OpenApprovals()
  const ids = Array.from({ length: 10_001 }, (_, at) => `r${at}`)
  for (const id of ids.slice(0, 10_000)) open.remember(request(id), { tenant: 'acme' })
  const before = open.find('r0', { tenant: 'acme' })

  open.remember(request('r10000'), { tenant: 'acme' })
  const journal = { steps: [{ kind: 'answer', id: 'r2' }] }
  closeRequests({ journal } as unknown as Run, open, true)

  expect(before?.id).toBe('r0')
  expect(ids.filter((id) => open.find(id, { tenant: 'acme' }) === undefined)).toEqual(['r0', 'r2'])
})
