import { type DragEvent, type MouseEvent, useRef } from 'react'
import { chooseRange, toggle } from './grid-choice.ts'
import type { ActiveRow } from './grid-focus.ts'
import type { OpenMenu } from './grid-keys.ts'
import type { VirtualGridProps } from './grid-props.ts'
import { noRows, type Selection, withRows } from './selection.ts'

interface PointerHandlers {
  readonly onClick: (event: MouseEvent) => void
  readonly onDoubleClick: (event: MouseEvent) => void
  readonly onContextMenu: (event: MouseEvent) => void
  readonly onMouseDown: (event: MouseEvent) => void
  readonly onDragStart: (event: DragEvent) => void
  readonly onDragOver: (event: DragEvent) => void
  readonly onDragLeave: (event: DragEvent) => void
  readonly onDrop: (event: DragEvent) => void
}

const dropClass = 'drop-target'
/** The longest time between two clicks of a double click that systems can be set to. */
const maxDoubleClickMs = 1000

/** The pointer handlers of a grid, for clicks, double clicks and drags. */
export const useGridPointer = <T>(props: VirtualGridProps<T>, focus: ActiveRow, openMenu: OpenMenu<T>): PointerHandlers => {
  const over = useRef<HTMLElement>(null)
  /** The last click that began on a row. */
  const clicked = useRef<{ readonly element: HTMLElement; readonly at: number }>(null)
  const placeOf = (event: { readonly target: EventTarget }) => {
    const element = (event.target as HTMLElement).closest<HTMLElement>('.grid-body > [data-index]')
    const index = Number(element?.dataset['index'])
    const row = element ? props.row(index) : undefined
    return element && row !== undefined ? { element, index, row } : undefined
  }
  const isWithin = (event: MouseEvent, selector: string): boolean => (event.target as HTMLElement).closest(selector) !== null
  const leave = (): void => {
    over.current?.classList.remove(dropClass)
    over.current = null
  }

  const choose = (event: MouseEvent, index: number, row: T): void => {
    if (!props.selection) return
    const isTouch = (event.nativeEvent as PointerEvent).pointerType === 'touch'
    if (event.shiftKey) {
      void chooseRange(
        props,
        focus.anchor.current,
        index,
        event.ctrlKey || event.metaKey || isWithin(event, '[data-check]') ? props.selection : noRows,
      )
      return
    }
    focus.anchor.current = index
    if (isWithin(event, '[data-check]') || event.ctrlKey || event.metaKey || isTouch) toggle(props, row)
    else props.onSelect?.(withRows(noRows as Selection<T>, [[props.idOf(row), row]], true))
  }

  return {
    onMouseDown: event => {
      // Extending the selection by Shift would select text.
      if (event.shiftKey && placeOf(event) && !isWithin(event, 'a')) event.preventDefault()
    },
    onClick: event => {
      const place = placeOf(event)
      if (!place) return
      const { element, index, row } = place
      if (event.detail === 1) clicked.current = { element, at: event.timeStamp }
      const button = (event.target as HTMLElement).closest<HTMLElement>('[data-menu]')
      focus.set(index)
      if (event.defaultPrevented) return
      if (button && props.actions) openMenu({ row, actions: props.actions(row), element: button })
      else if (!isWithin(event, 'a, button, input:not([type="checkbox"])')) {
        element.focus({ preventScroll: true })
        choose(event, index, row)
      }
    },
    onDoubleClick: event => {
      const place = placeOf(event)
      // The first click may have been on a dialog above the row, which it has closed.
      const { element, at = 0 } = clicked.current ?? {}
      const isOwn = place?.element === element && event.timeStamp - at < maxDoubleClickMs
      if (place && isOwn && !isWithin(event, 'a, button, input')) props.onOpen?.(place.row)
    },
    onContextMenu: event => {
      const place = placeOf(event)
      if (!place || !props.actions || isWithin(event, 'input')) return
      event.preventDefault()
      focus.set(place.index)
      place.element.focus({ preventScroll: true })
      openMenu({ row: place.row, actions: props.actions(place.row), element: place.element, at: { x: event.clientX, y: event.clientY } })
    },
    onDragStart: event => {
      const place = placeOf(event)
      if (place) props.onDragRow?.(event, place.row)
    },
    onDragOver: event => {
      const place = placeOf(event)
      const canDrop = place !== undefined && props.dropOn?.(place.row, event) !== undefined
      if (over.current !== place?.element) leave()
      if (!canDrop) return
      event.preventDefault()
      event.stopPropagation()
      over.current = place.element
      place.element.classList.add(dropClass)
    },
    onDragLeave: event => {
      if (!(event.currentTarget as HTMLElement).contains(event.relatedTarget as Node | null)) leave()
    },
    onDrop: event => {
      leave()
      const place = placeOf(event)
      const drop = place && props.dropOn?.(place.row, event)
      if (!drop) return
      event.preventDefault()
      event.stopPropagation()
      drop()
    },
  }
}
