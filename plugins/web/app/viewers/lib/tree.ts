import { make } from '../dom.ts'

export interface Branch {
  readonly id: string
  readonly label: string
  readonly note?: string
  readonly isGroup: boolean
}

interface TreeHooks {
  readonly label: string
  /** Loads the children of an item, with a message if some are omitted. */
  readonly load: (id: string) => Promise<{ readonly items: readonly Branch[]; readonly rest?: string | undefined }>
  readonly choose: (item: Branch) => void
}

interface Row {
  readonly item: Branch
  readonly element: HTMLLIElement
  readonly level: number
  group?: HTMLUListElement
  isLoading?: boolean
}

/** A tree with the keys of the ARIA practices: arrows, Home, End, Enter. Children are loaded when an item is expanded. */
export class Tree {
  readonly element: HTMLUListElement
  #hooks: TreeHooks
  #rows = new Map<HTMLElement, Row>()

  constructor(hooks: TreeHooks) {
    this.#hooks = hooks
    this.element = make('ul', {
      className: 'view-tree',
      attributes: { role: 'tree', 'aria-label': hooks.label },
      on: { keydown: event => this.#pressed(event as KeyboardEvent), click: event => this.#clicked(event) },
    })
  }

  /** Renders the root, expands the path to an item and selects it. If the item does not exist, its closest ancestor is selected. */
  async start(root: Branch, chosen: readonly string[]): Promise<void> {
    let row = this.#add(this.element, root, 1)
    await this.#open(row)
    for (const id of chosen) {
      const next = [...this.#rows.values()].find(({ item }) => item.id === id)
      if (!next) break
      row = next
      if (row.item.isGroup) await this.#open(row)
    }
    this.#choose(row, false)
  }

  #add(list: HTMLElement, item: Branch, level: number): Row {
    const element = make(
      'li',
      {
        tabIndex: -1,
        attributes: {
          role: 'treeitem',
          'aria-level': String(level),
          'aria-selected': 'false',
          ...(item.isGroup ? { 'aria-expanded': 'false' } : {}),
        },
      },
      make(
        'span',
        { className: 'row' },
        make('span', { className: 'label', dir: 'auto' }, item.label),
        ...(item.note === undefined ? [] : [make('span', { className: 'note' }, item.note)]),
      ),
    )
    const row: Row = { item, element, level }
    this.#rows.set(element, row)
    list.append(element)
    return row
  }

  async #open(row: Row): Promise<void> {
    if (!row.item.isGroup || row.isLoading) return
    row.element.setAttribute('aria-expanded', 'true')
    if (row.group) {
      row.group.hidden = false
      return
    }
    row.isLoading = true
    try {
      const { items, rest } = await this.#hooks.load(row.item.id)
      row.group = make('ul', { attributes: { role: 'group' } })
      for (const item of items) this.#add(row.group, item, row.level + 1)
      if (rest !== undefined) row.group.append(make('li', { className: 'help', attributes: { role: 'none' } }, rest))
      row.element.append(row.group)
    } finally {
      row.isLoading = false
    }
  }

  #close(row: Row): void {
    row.element.setAttribute('aria-expanded', 'false')
    if (row.group) row.group.hidden = true
  }

  #isOpen({ element }: Row): boolean {
    return element.getAttribute('aria-expanded') === 'true'
  }

  #choose(row: Row, withFocus = true): void {
    for (const { element } of this.#rows.values()) {
      element.tabIndex = -1
      element.setAttribute('aria-selected', 'false')
    }
    row.element.tabIndex = 0
    row.element.setAttribute('aria-selected', 'true')
    if (withFocus) row.element.focus()
    this.#hooks.choose(row.item)
  }

  #rowOf(target: EventTarget | null): Row | undefined {
    const element = (target as Element | null)?.closest<HTMLElement>('[role=treeitem]')
    return element ? this.#rows.get(element) : undefined
  }

  #clicked(event: Event): void {
    const row = this.#rowOf(event.target)
    if (!row) return
    const isChosen = row.element.getAttribute('aria-selected') === 'true'
    if (this.#isOpen(row) && isChosen) this.#close(row)
    else void this.#open(row)
    this.#choose(row)
  }

  #visible(): readonly Row[] {
    return [...this.element.querySelectorAll<HTMLElement>('[role=treeitem]')]
      .filter(element => !element.parentElement?.closest('[hidden]'))
      .map(element => this.#rows.get(element) as Row)
  }

  #pressed(event: KeyboardEvent): void {
    const row = this.#rowOf(event.target)
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return
    const rows = this.#visible()
    const at = rows.indexOf(row)
    const go = (to: Row | undefined): void => to && this.#choose(to)
    if (event.key === 'ArrowDown') go(rows[at + 1])
    else if (event.key === 'ArrowUp') go(rows[at - 1])
    else if (event.key === 'Home') go(rows[0])
    else if (event.key === 'End') go(rows.at(-1))
    else if (event.key === 'ArrowRight') this.#isOpen(row) ? go(rows[at + 1]) : void this.#open(row)
    else if (event.key === 'ArrowLeft') this.#isOpen(row) ? this.#close(row) : go(this.#rowOf(row.element.parentElement))
    else if (event.key === 'Enter' || event.key === ' ') this.#isOpen(row) ? this.#close(row) : void this.#open(row)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
}
