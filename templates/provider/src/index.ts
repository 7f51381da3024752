export { YourChatClient } from './your-chat-client.ts'
export type { YourChatClientOptions } from './your-chat-client.ts'
