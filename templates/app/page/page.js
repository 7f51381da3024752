import { chatReader } from '@lamella/serve/client'

const find = (id) => document.getElementById(id)
const [list, requests, status, form, input, stop, again, chats] = [
  'messages',
  'requests',
  'status',
  'form',
  'input',
  'stop',
  'again',
  'chats',
].map(find)

const words = {
  ready: '',
  running: 'Answering…',
  completed: 'Answered.',
  stopped: 'Stopped.',
  paused: 'Waits for an approval.',
  blocked: 'This was blocked.',
  failed: 'This failed',
}
const problems = {
  answer_forbidden:
    'A refund of more than 100 euros needs an employee. Decline it, or lower the sum.',
  inbox_full: 'Too many messages wait. Give the answer a moment.',
  run_paused: 'Answer the open request first.',
  connection_lost: 'The connection was lost.',
  rate_limited: 'Too many messages. Wait a moment.',
}

const adjectives = ['quiet', 'bright', 'early', 'green', 'kind', 'quick', 'round', 'warm']
const nouns = ['maple', 'river', 'window', 'garden', 'lantern', 'pebble', 'harbor', 'meadow']

let chat
let watching

function open(id) {
  location.hash = id
  watching?.abort()
  watching = undefined
  chat = chatReader({ url: '/chat', chat: id, onChange: show })
  show(chat.state)
  void chat.load().then(listChats)
}

function show(state) {
  watch(state)
  render(state)
}

/** Follows the chat while a request is open, since somebody else may answer it. */
function watch({ pending, status: name }) {
  if (pending.length > 0 && watching === undefined) {
    watching = new AbortController()
    void chat.watch(watching.signal)
  } else if (pending.length === 0 && name !== 'running') {
    watching?.abort()
    watching = undefined
  }
}

function render({ messages, waiting, pending, status: name, code }) {
  const isAnswer = ({ role }) => role !== 'tool'
  const shown = [...messages.filter(isAnswer), ...waiting]
  for (const [at, message] of shown.entries()) {
    const { role, contents, partial } = message
    const item = list.children[at] ?? list.appendChild(document.createElement('li'))
    item.className = `${role} ${partial ? 'partial' : ''}`
    const text = contents.map((part) => part.text ?? '').join('')
    const you = waiting.includes(message) ? 'You (not read yet)' : 'You'
    const said = `${role === 'user' ? you : 'Support'}: ${text}`
    if (item.textContent !== said) item.textContent = said
    item.hidden = text === ''
  }
  while (list.children.length > shown.length) list.lastChild.remove()
  if (name === 'running') list.lastChild?.scrollIntoView({ block: 'nearest' })
  showRequests(pending)
  const isRunning = name === 'running'
  find('greeting').hidden = shown.length > 0 || isRunning
  const told =
    code === undefined ? (words[name] ?? name) : (problems[code] ?? `${words.failed} (${code}).`)
  if (status.textContent !== told) status.textContent = told
  stop.hidden = !isRunning
  again.hidden = isRunning || !messages.some(({ role }) => role === 'user')
}

function showRequests(pending) {
  const ids = pending.map(({ id }) => id)
  for (const old of Array.from(requests.children)) if (!ids.includes(old.dataset.id)) old.remove()
  for (const request of pending) {
    if ([...requests.children].some(({ dataset }) => dataset.id === request.id)) continue
    const field = `arguments-${request.id}`
    const card = document.createElement('div')
    card.className = 'request'
    card.dataset.id = request.id
    const edited = make('textarea', { id: field, rows: 2, value: request.arguments ?? '{}' })
    const yes = make('button', { type: 'button', className: 'yes', textContent: 'Approve' })
    const no = make('button', { type: 'button', className: 'no', textContent: 'Decline' })
    card.append(
      make('h2', { textContent: `May I call “${request.name}”?` }),
      make('label', { htmlFor: field, textContent: 'Arguments' }),
      edited,
      yes,
      no,
    )
    yes.addEventListener('click', () => {
      try {
        const given = { approved: true, arguments: JSON.parse(edited.value) }
        void answer({ [request.id]: given })
      } catch {
        status.textContent = 'The arguments must be JSON.'
      }
    })
    no.addEventListener('click', () => void answer({ [request.id]: false }))
    requests.append(card)
  }
}

function make(tag, properties) {
  return Object.assign(document.createElement(tag), properties)
}

async function answer(answers) {
  if (await chat.answer(answers)) input.focus()
}

/** Makes up a name that is easy to recognize, such as `quiet-maple-417`. */
function newName() {
  const [first, second, number] = crypto.getRandomValues(new Uint16Array(3))
  return `${adjectives[first % 8]}-${nouns[second % 8]}-${number % 1000}`
}

async function listChats() {
  const { sessions } = await (await fetch('/chat')).json()
  const ids = new Set([location.hash.slice(1), ...sessions.map(({ id }) => id)])
  chats.replaceChildren(
    ...[...ids].map((id) => new Option(id, id, false, id === location.hash.slice(1))),
  )
}

async function send() {
  const text = input.value.trim()
  if (text === '') return
  input.value = ''
  if (!(await chat.send(text))) input.value = text
  await listChats()
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void send()
})
input.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  form.requestSubmit()
})
stop.addEventListener('click', () => void chat.stop())
again.addEventListener('click', () => void chat.again())
for (const button of find('greeting').querySelectorAll('button')) {
  button.addEventListener('click', () => {
    input.value = button.textContent
    form.requestSubmit()
  })
}
find('new').addEventListener('click', () => open(newName()))
chats.addEventListener('change', () => open(chats.value))

open(location.hash.slice(1) || newName())
input.focus()
