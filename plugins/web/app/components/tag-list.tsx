import { useEffect, useRef, useState } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import { Form } from 'react-aria-components/Form'
import { t } from '../lib/i18n.ts'
import { messageOf } from '../lib/messages.ts'
import { Button, TextField } from './controls.tsx'
import { Icon } from './icon.tsx'
import { toast } from './toasts.tsx'

/** Tags of a resource. With `onAdd` and `onRemove` they can be changed. */
export const TagList = ({
  tags,
  onAdd,
  onRemove,
}: {
  readonly tags: readonly string[]
  readonly onAdd?: ((names: readonly string[]) => Promise<unknown>) | undefined
  readonly onRemove?: ((name: string) => Promise<unknown>) | undefined
}) => {
  const [text, setText] = useState<string>()
  const [isReturning, setReturning] = useState(false)
  const [error, setError] = useState<string>()
  const box = useRef<HTMLDivElement>(null)
  const removed = useRef<{ readonly tag: string; readonly index: number }>(undefined)
  const close = (): void => {
    setReturning(true)
    setText(undefined)
    setError(undefined)
  }
  const add = async (): Promise<void> => {
    const names = namesIn(text ?? '')
    if (names.length === 0) return
    // The next tag can be typed while this one is saved.
    setText('')
    setError(undefined)
    try {
      await onAdd?.(names)
    } catch (failure) {
      setText(typed => namesIn([...names, typed ?? ''].join()).join(', '))
      setError(messageOf(failure))
    }
  }
  const remove = (tag: string, index: number): void => {
    removed.current = { tag, index }
    onRemove?.(tag).catch(failure => {
      removed.current = undefined
      toast(messageOf(failure))
    })
  }
  useEffect(() => {
    if (!removed.current || tags.includes(removed.current.tag)) return
    const { index } = removed.current
    removed.current = undefined
    if (document.activeElement !== document.body) return
    const buttons = box.current?.querySelectorAll<HTMLElement>('.tag-remove') ?? []
    const next = buttons[Math.min(index, buttons.length - 1)] ?? box.current?.querySelector('button')
    next?.focus()
  }, [tags])
  return (
    <div ref={box}>
      {tags.length > 0 && (
        <ul className="tags">
          {tags.map((tag, index) => (
            <li key={tag} className="tag">
              <span dir="auto">{tag}</span>
              {onRemove && (
                <AriaButton className="tag-remove" aria-label={t('tags.remove', { name: tag })} onPress={() => remove(tag, index)}>
                  <Icon name="x" size={12} />
                </AriaButton>
              )}
            </li>
          ))}
        </ul>
      )}
      {onAdd &&
        (text === undefined ? (
          <Button look="quiet" icon="plus" autoFocus={isReturning} onBlur={() => setReturning(false)} onPress={() => setText('')}>
            {t('tags.add')}
          </Button>
        ) : (
          <Form
            className="editable-form"
            onSubmit={event => {
              event.preventDefault()
              void add()
            }}
          >
            <TextField
              label={t('tags.label')}
              help={t('tags.help')}
              value={text}
              onChange={setText}
              error={error}
              autoFocus
              onKeyDown={event => event.key === 'Escape' && !event.nativeEvent.isComposing && close()}
            />
            <div className="actions">
              <Button type="submit">{t('tags.addNow')}</Button>
              <Button look="quiet" onPress={close}>
                {t('close')}
              </Button>
            </div>
          </Form>
        ))}
    </div>
  )
}

/** Comma-separated names, each once. */
export const namesIn = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(',')
      .map(name => name.trim())
      .filter(name => name !== ''),
  ),
]
