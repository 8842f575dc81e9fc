import { type KeyboardEvent, useRef } from 'react'
import { chooseRange, toggle } from './grid-choice.ts'
import type { ActiveRow } from './grid-focus.ts'
import type { MenuPlace } from './grid-menu.tsx'
import type { VirtualGridProps } from './grid-props.ts'
import { allRows, noRows } from './selection.ts'
import { toastFailure } from './toasts.tsx'

/** Opens the menu of a row. */
export type OpenMenu<T> = (place: MenuPlace<T>) => void

/** Text typed to find a name, and whether rows that are not loaded are being searched for it. */
interface Typed {
  readonly text: string
  readonly at: number
  isPending: boolean
}

const nothing = { text: '', at: 0, isPending: false }
const maxSearched = 200_000
/** Maximum number of rows loaded to find a name. */
const maxLoaded = 10_000
const batchSize = 1000
/** Rows are loaded once typing pauses. */
const pauseMs = 250

/** The keyboard handler of a grid. */
export const useGridKeys = <T>(props: VirtualGridProps<T>, focus: ActiveRow, openMenu: OpenMenu<T>): ((event: KeyboardEvent) => void) => {
  const typed = useRef<Typed>(nothing)
  const latest = useRef({ props, focus })
  latest.current = { props, focus }

  // By the time of the key press: keys queued while the page is busy still belong together.
  const isTyping = (event: KeyboardEvent): boolean => typed.current.text !== '' && event.timeStamp - typed.current.at < 700

  const moveTo = (index: number): void => {
    latest.current.focus.anchor.current = index
    latest.current.focus.move(index)
  }

  /** Loads rows from a row on, until one has a name that begins with the text. A key pressed meanwhile, or a moved focus, ends the search. */
  const findUnloaded = async (search: Typed, first: number, isAt: () => boolean): Promise<void> => {
    const known = new Map<number, T>()
    let left = maxLoaded
    for (let step = 0; step < Math.min(latest.current.props.count, maxSearched); step++) {
      const { count, row, loadRows, nameOf } = latest.current.props
      const index = (first + step) % count
      if (row(index) === undefined && !known.has(index) && left > 0 && loadRows) {
        left -= batchSize
        const rows = await loadRows(index, Math.min(count, index + batchSize))
        if (typed.current !== search || !isAt()) return
        for (const [at, each] of rows.entries()) known.set(index + at, each)
      }
      const found = row(index) ?? known.get(index)
      if (found !== undefined && startsWith(nameOf(found), search.text)) return moveTo(index)
    }
  }

  /** Moves to the next row whose name begins with the typed text, at once or when rows before it are loaded. Returns false if there is none. */
  const findByName = (event: KeyboardEvent, mayLoad: boolean): boolean => {
    const isNew = !isTyping(event)
    const search: Typed = { text: isNew ? event.key : typed.current.text + event.key, at: event.timeStamp, isPending: false }
    typed.current = search
    const first = isNew ? focus.active + 1 : focus.active
    for (let step = 0; step < Math.min(props.count, maxSearched); step++) {
      const index = (first + step) % props.count
      const row = props.row(index)
      if (row === undefined && mayLoad && props.loadRows) {
        const element = event.target
        const isAt = (): boolean => document.activeElement === element
        search.isPending = true
        setTimeout(() => {
          if (typed.current !== search || !isAt()) return
          void findUnloaded(search, first, isAt)
            .catch(toastFailure)
            .finally(() => {
              search.isPending = false
            })
        }, pauseMs)
        return true
      }
      if (row === undefined || !startsWith(props.nameOf(row), search.text)) continue
      moveTo(index)
      return true
    }
    return false
  }

  const move = (index: number, isExtending: boolean): void => {
    const next = Math.max(0, Math.min(index, props.count - 1))
    typed.current = nothing
    if (isExtending && props.selection) void chooseRange(props, focus.anchor.current, next, noRows)
    else focus.anchor.current = next
    focus.move(next)
  }

  const target = (key: string): number | undefined => {
    switch (key) {
      case 'ArrowDown':
        return focus.active + 1
      case 'ArrowUp':
        return focus.active - 1
      case 'Home':
        return 0
      case 'End':
        return props.count - 1
      case 'PageDown':
        return focus.active + focus.pageSize()
      case 'PageUp':
        return focus.active - focus.pageSize()
      default:
        return undefined
    }
  }

  const act = (event: KeyboardEvent, row: T | undefined, element: HTMLElement): boolean => {
    const { key, shiftKey, ctrlKey, metaKey } = event
    if (key === 'Escape' && props.selection && (props.selection.isAllBut || props.selection.rows.size > 0)) {
      props.onSelect?.(noRows)
      return true
    }
    if ((ctrlKey || metaKey) && key.toLowerCase() === 'a' && props.selection) {
      props.onSelect?.(allRows)
      return true
    }
    if (row === undefined) return false
    // A space is part of the typed text where a name continues with it.
    if (key === ' ' && isTyping(event) && findByName(event, typed.current.isPending)) return true
    if (key === ' ' && props.selection) {
      if (shiftKey) void chooseRange(props, focus.anchor.current, focus.active, props.selection)
      else toggle(props, row)
      if (!shiftKey) focus.anchor.current = focus.active
      return true
    }
    if (key === 'Enter' && props.onOpen) props.onOpen(row)
    else if (key === 'F2' && props.onRename) props.onRename(row)
    else if (key === 'Delete' && props.onDelete) props.onDelete(row)
    else if ((key === 'ContextMenu' || (key === 'F10' && shiftKey)) && props.actions) {
      openMenu({ row, actions: props.actions(row), element: element.querySelector('[data-menu]') ?? element })
    } else return false
    return true
  }

  return event => {
    const element = event.target as HTMLElement
    if (!element.matches('.grid-body > [data-index], .grid-empty')) return
    if (props.onUp && (event.key === 'Backspace' || (event.altKey && event.key === 'ArrowUp'))) {
      event.preventDefault()
      props.onUp()
      return
    }
    if (props.count === 0) return
    const row = props.row(focus.active)
    if (props.onKey?.(event, row) === true || act(event, row, element)) {
      event.preventDefault()
      return
    }
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey
    const next = event.altKey || event.metaKey ? undefined : target(event.key)
    if (next !== undefined) {
      event.preventDefault()
      move(next, event.shiftKey)
    } else if (isPlain && event.key.length === 1 && event.key !== ' ' && event.key !== '/' && event.key !== '?') {
      event.preventDefault()
      findByName(event, true)
    }
  }
}

const startsWith = (name: string, text: string): boolean => name.toLocaleLowerCase().startsWith(text.toLocaleLowerCase())
