import { useEffect, useState, useSyncExternalStore } from 'react'
import { t } from '../lib/i18n.ts'
import { messageOf } from '../lib/messages.ts'
import { Button, IconButton } from './controls.tsx'

interface Toast {
  readonly id: number
  readonly text: string
  readonly action?: { readonly label: string; readonly run: () => void } | undefined
}

let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

const change = (next: readonly Toast[]): void => {
  toasts = next
  for (const listener of listeners) listener()
}

const remove = (id: number): void => change(toasts.filter(toast => toast.id !== id))

/** The focus, which was in the message, is given to the page. */
const close = (id: number): void => {
  remove(id)
  document.getElementById('content')?.focus({ preventScroll: true })
}

/** Reports what happened, with an undo action. At most four are shown. */
export const toast = (text: string, action?: Toast['action']): void => {
  lastId++
  change([...toasts.slice(-3), { id: lastId, text, action }])
}

/** Reports an error. */
export const toastFailure = (error: unknown): void => toast(messageOf(error))

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const ToastView = ({ toast: { id, text, action } }: { readonly toast: Toast }) => {
  const [isHeld, setHeld] = useState(false)
  useEffect(() => {
    if (isHeld) return undefined
    const timer = setTimeout(() => remove(id), action ? 12_000 : 6000)
    return () => clearTimeout(timer)
  }, [id, action, isHeld])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a message under the pointer or with the focus stays; there is nothing to press
    <div
      className="toast"
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span>{text}</span>
      {action && (
        <Button
          look="quiet"
          onPress={() => {
            close(id)
            action.run()
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton icon="x" label={t('close')} onPress={() => close(id)} />
    </div>
  )
}

/** Where toasts appear; announced to screen readers. */
export const Toasts = () => {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(each => (
        <ToastView key={each.id} toast={each} />
      ))}
    </div>
  )
}
