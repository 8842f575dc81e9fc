import { useLayoutEffect, useRef, useState } from 'react'
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components/Menu'
import { bytes, number } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { Button, IconButton } from './controls.tsx'
import type { GridAction } from './grid-menu.tsx'
import { Icon } from './icon.tsx'

const bars = new Set<HTMLElement>()

/** The top of the bar at the bottom of the window, in pixels from the window's top; undefined while there is none. */
export const selectionBarTop = (): number | undefined => {
  for (const bar of bars) return bar.getBoundingClientRect().top
  return undefined
}

interface SelectionBarProps {
  readonly count: number
  readonly sizeBytes?: number | undefined
  /** The most used ones come first. */
  readonly actions: readonly GridAction[]
  readonly onClear: () => void
  /** Gives the focus to the list of the rows; by default the page gets it. */
  readonly focusList?: () => void
}

/**
 * Appears at the bottom of the window while rows are selected: their number, size and actions. Actions that do not fit go into "More".
 * Put it directly after its grid, so that Tab leads from a row to it.
 */
export const SelectionBar = (props: SelectionBarProps) => (props.count === 0 ? null : <Bar {...props} />)

const focusPage = (): void => document.getElementById('content')?.focus({ preventScroll: true })

/** Gives the focus to the list as soon as dialogs are closed, unless something else has it. */
const returnFocus = (focusList: () => void, triesLeft = 20): void => {
  const focused = document.activeElement
  if (!focused || focused === document.body) focusList()
  else if (triesLeft > 0 && focused.closest('[role="dialog"]')) setTimeout(() => returnFocus(focusList, triesLeft - 1), 50)
}

const Bar = ({ count, sizeBytes, actions, onClear, focusList = focusPage }: SelectionBarProps) => {
  const bar = useRef<HTMLDivElement>(null)
  const latest = useRef(focusList)
  latest.current = focusList
  const [fitting, setFitting] = useState(actions.length)
  const labels = actions.map(({ label }) => label).join('\n')

  useLayoutEffect(() => {
    const element = bar.current
    if (!element) return undefined
    bars.add(element)
    return () => {
      bars.delete(element)
      // Only of the keyboard: the page does not scroll to the active row after a click.
      if (document.querySelector(':focus-visible')) setTimeout(() => returnFocus(latest.current))
    }
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: measured anew for other words
  useLayoutEffect(() => {
    const measure = (): void => setFitting(fittingActions(bar.current, actions.length))
    measure()
    window.addEventListener('resize', measure)
    return () => window.removeEventListener('resize', measure)
  }, [labels, count, sizeBytes])

  const more = actions.slice(fitting)
  return (
    <div ref={bar} className="selection-bar" role="toolbar" aria-label={t('selection.label')}>
      <span className="selection-count" role="status">
        {sizeBytes === undefined
          ? t('selection.count', { count, number: number(count) })
          : t('selection.countAndSize', { count, number: number(count), size: bytes(sizeBytes) })}
      </span>
      {/* All of them, unseen, to learn how wide each is. */}
      <span className="selection-measure" aria-hidden="true" inert>
        {actions.map(({ id, label }) => (
          <span key={id} className="button quiet">
            {label}
          </span>
        ))}
      </span>
      {actions.slice(0, fitting).map(({ id, label, isDisabled = false, run }) => (
        <Button key={id} look="quiet" isDisabled={isDisabled} onPress={run}>
          {label}
        </Button>
      ))}
      {more.length > 0 && (
        <MenuTrigger>
          <Button look="quiet">{t('selection.more')}</Button>
          <Popover className="popover" placement="top end">
            <Menu onAction={id => actions.find(action => action.id === id)?.run()}>
              {more.map(({ id, label, icon, destroys = false, isDisabled = false }) => (
                <MenuItem
                  key={id}
                  id={id}
                  textValue={label}
                  isDisabled={isDisabled}
                  className={destroys ? 'menu-item destroys' : 'menu-item'}
                >
                  {icon && <Icon name={icon} />}
                  {label}
                </MenuItem>
              ))}
            </Menu>
          </Popover>
        </MenuTrigger>
      )}
      <IconButton icon="x" label={t('selection.clear')} onPress={onClear} />
    </div>
  )
}

/** How many buttons fit beside the count, "More" and the close button. */
const fittingActions = (bar: HTMLElement | null, total: number): number => {
  const words = bar?.querySelector<HTMLElement>('.selection-count')
  const measure = bar?.querySelector<HTMLElement>('.selection-measure')
  if (!bar || !words || !measure) return total
  const roomPx = document.documentElement.clientWidth - 24 - words.scrollWidth - 64
  const widths = [...measure.children].map(child => (child as HTMLElement).offsetWidth + 4)
  const sum = widths.reduce((one, other) => one + other, 0)
  if (sum <= roomPx) return total
  let used = 64
  let fitting = 0
  for (const width of widths) {
    used += width
    if (used > roomPx) break
    fitting++
  }
  return fitting
}
