import { type KeyboardEvent, useEffect, useRef } from 'react'

/** A panel beside the table. It receives the focus when opened, and Escape closes it. */
export const usePanel = (onClose: () => void) => {
  const ref = useRef<HTMLElement>(null)
  useEffect(() => ref.current?.focus({ preventScroll: true }), [])
  return {
    ref,
    tabIndex: -1,
    onKeyDown: (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return
      event.stopPropagation()
      onClose()
    },
  }
}
