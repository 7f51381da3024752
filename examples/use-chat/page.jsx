import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'

const api = '/api/chat'
location.hash ||= crypto.randomUUID()
const id = location.hash.slice(1)
const { messages: earlier, running } = await (await fetch(`${api}/${id}`)).json()

const words = { submitted: 'Answering…', streaming: 'Answering…', ready: '', error: 'This failed.' }
const endings = {
  completed: 'Answered.',
  paused: 'Waits for an approval.',
  blocked: 'This was blocked.',
  stopped: 'Stopped.',
}

const suggestions = ['What have I ordered?', 'Refund my teapot', 'Refund my tea set']

function Chat() {
  const [text, setText] = useState('')
  const chat = useChat({
    id,
    messages: earlier,
    // Resumes a run that continued while the page was closed, from its first chunk.
    resume: running,
    transport: new DefaultChatTransport({ api }),
    // The server takes the answers of this request, and nothing else of the history in it.
    sendAutomaticallyWhen: isAnswered,
  })
  const { messages, status, error } = chat
  const isRunning = status === 'submitted' || status === 'streaming'
  const answer = messages.findLast(({ role }) => role === 'assistant')
  const ending = status === 'ready' ? endings[answer?.metadata?.status] : undefined

  const send = (event) => {
    event.preventDefault()
    if (text.trim() === '') return
    // During an answer, the run reads the message at its next step.
    void chat.sendMessage({ text })
    setText('')
  }
  const stop = async () => {
    // The run does not end with its reader, so it is stopped where it runs.
    await fetch(`${api}/${id}/stream`, { method: 'DELETE' })
  }

  return (
    <>
      <section id="greeting" aria-label="Suggestions" hidden={messages.length > 0 || isRunning}>
        <p>Hello! I am the support of the shop. What can I do for you?</p>
        {suggestions.map((suggestion) => (
          <button
            key={suggestion}
            type="button"
            onClick={() => void chat.sendMessage({ text: suggestion })}
          >
            {suggestion}
          </button>
        ))}
      </section>
      <ol id="messages" aria-label="Messages" tabIndex={0}>
        {messages.map((message) => (
          <Message key={message.id} message={message} answer={chat.addToolApprovalResponse} />
        ))}
      </ol>
      <p id="status" role="status">
        {error ? `${words.error} ${codeOf(error)}` : (ending ?? words[status])}
      </p>
      <form id="form" onSubmit={send}>
        <label htmlFor="input">Message</label>
        <textarea
          id="input"
          rows={2}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing)
              send(event)
          }}
        />
        <button type="submit">Send</button>
        <button type="button" hidden={!isRunning} onClick={stop}>
          Stop
        </button>
        <button
          type="button"
          hidden={isRunning || messages.length === 0}
          onClick={() => void chat.regenerate()}
        >
          Answer again
        </button>
      </form>
    </>
  )
}

/** True if every request of the last answer has its answer. Messages of the user may stand behind it. */
function isAnswered({ messages }) {
  const end = messages.findLastIndex(({ role }) => role === 'assistant') + 1
  return lastAssistantMessageIsCompleteWithApprovalResponses({ messages: messages.slice(0, end) })
}

function Message({ message: { role, parts }, answer }) {
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  const calls = parts.filter(({ state }) => state === 'approval-requested')
  return (
    <>
      {text !== '' && (
        <li className={role}>
          {role === 'user' ? 'You' : 'Support'}: {text}
        </li>
      )}
      {calls.map(({ toolName, input, approval }) => (
        <li key={approval.id} className="request">
          <p>
            May I call “{toolName}” with {JSON.stringify(input)}?
          </p>
          <button type="button" onClick={() => answer({ id: approval.id, approved: true })}>
            Approve
          </button>{' '}
          <button type="button" onClick={() => answer({ id: approval.id, approved: false })}>
            Decline
          </button>
        </li>
      ))}
    </>
  )
}

function codeOf({ message }) {
  try {
    return JSON.parse(message).error.code
  } catch {
    return message
  }
}

createRoot(document.getElementById('root')).render(<Chat />)
