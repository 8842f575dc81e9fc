import { Button } from 'react-aria-components/Button'
import { t } from '../lib/i18n.ts'
import { Icon } from './icon.tsx'
import { toast } from './toasts.tsx'

/** Puts text on the clipboard and says so. Without a secure connection browsers have no clipboard: then through a field that is marked. */
export const copyText = async (text: string, done: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    field.className = 'visually-hidden'
    document.body.append(field)
    field.select()
    document.execCommand('copy')
    field.remove()
  }
  toast(done)
}

/** An identifier or digest, copied by one press. */
export const CopyText = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <Button className="copy-text mono" aria-label={label} onPress={() => void copyText(text, t('copied'))}>
    {text}
    <Icon name="copy" size={14} />
  </Button>
)
