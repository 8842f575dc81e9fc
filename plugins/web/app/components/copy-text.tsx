import { Button } from 'react-aria-components/Button'
import { t } from '../lib/i18n.ts'
import { Icon } from './icon.tsx'
import { toast } from './toasts.tsx'

/** Copies text to the clipboard and confirms it. Without a secure connection browsers have no clipboard API: then through a selected field. */
export const copyText = async (text: string, done: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const focused = document.activeElement as HTMLElement
    const field = document.createElement('textarea')
    field.value = text
    field.className = 'visually-hidden'
    // Within a dialog, which keeps the focus inside.
    focused.after(field)
    field.select()
    document.execCommand('copy')
    field.remove()
    focused.focus()
  }
  toast(done)
}

/** An identifier or digest that is copied with one click. */
export const CopyText = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <Button className="copy-text mono" aria-label={label} onPress={() => void copyText(text, t('copied'))}>
    {text}
    <Icon name="copy" size={14} />
  </Button>
)
