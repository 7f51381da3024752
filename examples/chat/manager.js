// The list of `requestsHandler`, filtered, with an answer for each request.
const find = (id) => document.getElementById(id)
const [list, status, tool, customer, age] = ['requests', 'status', 'tool', 'customer', 'age'].map(
  find,
)
const problems = {
  request_claimed: 'Another person decides about it.',
  request_unknown: 'It is not open any more.',
  approval_invalid: 'It is not open any more.',
}
let requests = []

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

async function act(body) {
  const response = await fetch('/requests', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.ok) return
  const { error } = await response.json()
  status.textContent = problems[error.code] ?? `This failed (${error.code}).`
}

function card({ id, tool: name, arguments: given, principal, place, openedAt, claimedBy }) {
  const answer = (textContent, className, value) => {
    const button = make('button', { type: 'button', className, textContent })
    button.addEventListener('click', () => void act({ id, answer: value }))
    return button
  }
  const facts = `${principal.slice(0, 8)} in ${place}, since ${new Date(openedAt).toLocaleTimeString()}`
  return make(
    'div',
    { className: 'request' },
    make('h2', { textContent: `${name}: ${given}` }),
    make('p', { textContent: claimedBy === undefined ? facts : `${facts}, ${claimedBy} decides` }),
    answer('Approve', 'yes', true),
    answer('Deny', 'no', { approved: false, reason: 'a manager has denied it' }),
  )
}

function render() {
  const names = [...new Set(requests.map((request) => request.tool))]
  const known = [...tool.options].map(({ value }) => value)
  for (const name of names) if (!known.includes(name)) tool.append(new Option(name, name))
  const shown = requests.filter(
    (request) =>
      (tool.value === '' || request.tool === tool.value) &&
      request.principal.startsWith(customer.value.trim()) &&
      request.openedAt <= Date.now() - Number(age.value),
  )
  list.replaceChildren(...shown.map(card))
  status.textContent = shown.length === 0 ? 'Nothing waits.' : `${shown.length} waiting.`
}

async function watch() {
  for (let since = ''; ; ) {
    const query = since === '' ? '' : `?since=${encodeURIComponent(since)}`
    const response = await fetch(`/requests${query}`).catch(() => undefined)
    if (response?.status === 200) {
      const found = await response.json()
      // The version of an empty list is empty, too.
      since = found.version || 'none'
      requests = found.requests
      render()
    } else if (response?.status !== 204) {
      status.textContent = response?.status === 401 ? 'Only managers see this.' : 'Connecting…'
      await new Promise((resolve) => setTimeout(resolve, 1000))
    }
  }
}

for (const field of [tool, customer, age]) field.addEventListener('input', render)
void watch()
