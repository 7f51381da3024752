type Child = Node | string | undefined | false

/** Attributes; `on…` are listeners, `class` and `text` what they say, `true` an attribute without a value. */
type Attributes = Readonly<
  Record<string, string | number | boolean | undefined | ((event: never) => void)>
>

/** Makes an element. Texts become text nodes, never markup. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  fill(element, attributes, children)
  return element
}

/** Makes an element of a drawing. */
export function svg(
  tag: string,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
  fill(element, attributes, children)
  return element
}

/** Replaces what is in an element. */
export function put(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...children.filter(isShown))
}

/** A button that does something. */
export function button(
  label: string,
  onclick: () => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  return h('button', { type: 'button', onclick, ...attributes }, label)
}

/** The element of the page with this id. */
export function byId(id: string): HTMLElement {
  return document.getElementById(id)!
}

/** Text with the stretches marked that a search looks for. */
export function marked(text: string, query: string): Node {
  if (query === '') return document.createTextNode(text)
  const fragment = document.createDocumentFragment()
  const lower = text.toLowerCase()
  let from = 0
  // Lower case may be longer than what it is of; then nothing is marked.
  for (
    let at = lower.indexOf(query);
    at >= 0 && lower.length === text.length;
    at = lower.indexOf(query, from)
  ) {
    fragment.append(text.slice(from, at), h('mark', {}, text.slice(at, at + query.length)))
    from = at + query.length
  }
  fragment.append(text.slice(from))
  return fragment
}

function fill(element: Element, attributes: Attributes, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener)
    else element.setAttribute(name, value === true ? '' : String(value))
  }
  element.append(...children.filter(isShown))
}

function isShown(child: Child): child is Node | string {
  return child !== undefined && child !== false
}
