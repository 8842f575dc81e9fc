type Child = Node | string

interface Extras {
  readonly attributes?: Readonly<Record<string, string>>
  readonly on?: Readonly<Record<string, (event: Event) => void>>
}

/** An element with its properties, attributes, listeners and children. */
export const make = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  { attributes = {}, on = {}, ...properties }: Partial<Omit<HTMLElementTagNameMap[Tag], 'attributes'>> & Extras = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] => {
  const element = document.createElement(tag)
  Object.assign(element, properties)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  for (const [name, listener] of Object.entries(on)) element.addEventListener(name, listener)
  element.append(...children)
  return element
}

/** A button. If given, `short` is shown instead of the label, which becomes the accessible name and the tooltip. */
export const makeButton = (label: string, press: () => void, short?: string): HTMLButtonElement =>
  make(
    'button',
    {
      type: 'button',
      className: short === undefined ? 'button' : 'button quiet view-short',
      on: { click: press },
      ...(short === undefined ? {} : { title: label, attributes: { 'aria-label': label } }),
    },
    short ?? label,
  )

/** A labelled select element. */
export const makeChoice = <Value extends string>(
  label: string,
  options: readonly (readonly [value: Value, text: string])[],
  chosen: Value,
  choose: (value: Value) => void,
): HTMLLabelElement => {
  const select = make(
    'select',
    { className: 'input', on: { change: () => choose(select.value as Value) } },
    ...options.map(([value, text]) => make('option', { value, selected: value === chosen }, text)),
  )
  return make('label', { className: 'view-choice' }, make('span', {}, label), select)
}

/** A status line, announced by screen readers when its text changes. */
export const makeStatus = (): HTMLParagraphElement => make('p', { className: 'help view-status', attributes: { role: 'status' } })

/** A table of strings. With `hasRowHeads`, the first cell of each row is its heading. */
export const makeTable = (
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  hasRowHeads = false,
): HTMLTableElement =>
  make(
    'table',
    { className: 'view-table' },
    make('caption', {}, caption),
    ...(heads.length === 0
      ? []
      : [make('thead', {}, make('tr', {}, ...heads.map(text => (text === '' ? make('td') : make('th', { scope: 'col' }, text)))))]),
    make(
      'tbody',
      {},
      ...rows.map(cells =>
        make('tr', {}, ...cells.map((text, at) => (hasRowHeads && at === 0 ? make('th', { scope: 'row' }, text) : make('td', {}, text)))),
      ),
    ),
  )

/** A focusable scrollable region. */
export const makeScroller = (label: string, ...children: readonly Child[]): HTMLElement =>
  make('section', { className: 'view-scroller', tabIndex: 0, attributes: { 'aria-label': label } }, ...children)

/** The colour of a design token, in a form accepted by canvas libraries. */
export const colorOf = (token: string, beside: HTMLElement): string => {
  const probe = make('span', { hidden: true })
  probe.style.color = `var(--${token})`
  beside.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Calls back when the page switches between light and dark, until the signal is aborted. */
export const onSchemeChange = (signal: AbortSignal, changed: () => void): void => {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed, { signal })
  const observer = new MutationObserver(changed)
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  signal.addEventListener('abort', () => observer.disconnect())
}
