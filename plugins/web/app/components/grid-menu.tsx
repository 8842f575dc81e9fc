import { useRef } from 'react'
import { Menu, MenuItem, Popover, Separator } from 'react-aria-components/Menu'
import { flushSync } from 'react-dom'
import { Icon } from './icon.tsx'
import type { IconName } from './icon-names.ts'

/** A menu item of a row. */
export interface GridAction {
  readonly id: string
  /** A verb, such as "Rename". */
  readonly label: string
  readonly icon?: IconName
  readonly destroys?: boolean
  readonly isDisabled?: boolean
  /** A separator above this item, which starts another group. */
  readonly startsGroup?: boolean
  readonly run: () => void
}

/** The row whose menu is open, and its anchor: an element, or a point of the window. */
export interface MenuPlace<T> {
  readonly row: T
  readonly actions: readonly GridAction[]
  readonly element: Element
  readonly at?: { readonly x: number; readonly y: number }
}

/** The single menu of a grid. */
export const GridMenu = <T,>({
  place: { actions, element, at },
  label,
  onClose,
}: {
  readonly place: MenuPlace<T>
  readonly label: string
  readonly onClose: () => void
}) => {
  const point = useRef<HTMLSpanElement>(null)
  const trigger = useRef<Element>(element)
  trigger.current = element
  const run = (id: unknown): void => {
    // Focused before a dialog opens, the row gets the focus again when that closes.
    flushSync(onClose)
    element.closest<HTMLElement>('[data-index]')?.focus({ preventScroll: true })
    actions.find(action => action.id === id)?.run()
  }
  return (
    <>
      {at && <span ref={point} className="grid-point" style={{ insetInlineStart: `${at.x}px`, insetBlockStart: `${at.y}px` }} />}
      <Popover
        className="popover"
        aria-label={label}
        triggerRef={at ? point : trigger}
        placement={at ? 'bottom start' : 'bottom end'}
        isOpen
        onOpenChange={isOpen => isOpen || onClose()}
      >
        <Menu aria-label={label} autoFocus="first" onAction={run} onClose={onClose}>
          {actions.flatMap(({ id, label: text, icon, destroys = false, isDisabled = false, startsGroup = false }) => [
            ...(startsGroup ? [<Separator key={`before ${id}`} className="menu-separator" />] : []),
            <MenuItem key={id} id={id} textValue={text} isDisabled={isDisabled} className={destroys ? 'menu-item destroys' : 'menu-item'}>
              {icon && <Icon name={icon} />}
              {text}
            </MenuItem>,
          ])}
        </Menu>
      </Popover>
    </>
  )
}
