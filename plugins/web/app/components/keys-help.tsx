import { useEffect } from 'react'
import { createStore, useStore } from '../lib/store.ts'
import { late } from './late.tsx'

const open = createStore(false)

export const openKeysHelp = (): void => open.set(true)

const Keys = late(async () => (await import('./keys-dialog.tsx')).KeysDialog)

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Lists the keyboard shortcuts when `?` is pressed. */
export const KeysHelp = () => {
  const isOpen = useStore(open)
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== '?' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      event.preventDefault()
      openKeysHelp()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
  return isOpen ? <Keys onClose={() => open.set(false)} /> : null
}
