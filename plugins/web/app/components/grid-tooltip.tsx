import { type RefObject, useEffect, useState } from 'react'
import { createPortal } from 'react-dom'

interface Tip {
  readonly text: string
  readonly x: number
  readonly y: number
}

const delayMs = 500

/** The tooltip text of an element: its `data-tip` or, where that is empty, its own text if it is truncated. */
const textOf = (element: HTMLElement): string => {
  const tipText = element.dataset['tip'] ?? ''
  if (tipText !== '') return tipText
  return element.scrollWidth > element.clientWidth ? (element.textContent ?? '') : ''
}

/** The single tooltip of a grid, for elements with `data-tip`; for the active row it shows the truncated ones when the row is focused by a key. */
export const GridTooltip = ({ grid }: { readonly grid: RefObject<HTMLElement | null> }) => {
  const [tip, setTip] = useState<Tip>()
  useEffect(() => {
    const box = grid.current
    if (!box) return undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    const hide = (): void => {
      clearTimeout(timer)
      setTip(undefined)
    }
    const show = (element: HTMLElement): void => {
      const text = textOf(element)
      const { left, bottom } = element.getBoundingClientRect()
      if (text !== '' && element.isConnected)
        setTip({ text, x: Math.min(left, innerWidth - 250), y: Math.min(bottom + 4, innerHeight - 60) })
    }
    const enter = (event: Event): void => {
      const element = (event.target as HTMLElement).closest<HTMLElement>('[data-tip]')
      hide()
      if (element) timer = setTimeout(() => show(element), delayMs)
    }
    const focus = (event: Event): void => {
      const row = event.target as HTMLElement
      hide()
      const element = row.matches(':focus-visible') ? row.querySelector<HTMLElement>('[data-tip=""]') : null
      if (element) timer = setTimeout(() => show(element), delayMs)
    }
    const key = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') hide()
    }
    box.addEventListener('mouseover', enter)
    box.addEventListener('mouseleave', hide)
    box.addEventListener('focusin', focus)
    box.addEventListener('focusout', hide)
    box.addEventListener('scroll', hide, { passive: true })
    box.addEventListener('mousedown', hide)
    document.addEventListener('keydown', key)
    return () => {
      hide()
      box.removeEventListener('mouseover', enter)
      box.removeEventListener('mouseleave', hide)
      box.removeEventListener('focusin', focus)
      box.removeEventListener('focusout', hide)
      box.removeEventListener('scroll', hide)
      box.removeEventListener('mousedown', hide)
      document.removeEventListener('keydown', key)
    }
  }, [grid])
  if (!tip) return null
  return createPortal(
    <div role="tooltip" className="tooltip grid-tooltip" style={{ insetInlineStart: `${tip.x}px`, insetBlockStart: `${tip.y}px` }}>
      {tip.text}
    </div>,
    document.body,
  )
}
