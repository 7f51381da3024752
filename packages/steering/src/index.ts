export { createInbox } from './create-inbox.ts'
export type { Inbox, InboxEvent, InboxOptions, MessageToRun } from './create-inbox.ts'
export type {
  Delivered,
  Delivery,
  InboxMessage,
  NotDelivered,
  NotDeliveredReason,
} from './inbox-record.ts'
