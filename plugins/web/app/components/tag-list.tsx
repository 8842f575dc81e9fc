import { useState } from 'react'
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
  const [error, setError] = useState<string>()
  const add = async (): Promise<void> => {
    const names = namesIn(text ?? '')
    if (names.length === 0) return
    try {
      await onAdd?.(names)
      setText('')
      setError(undefined)
    } catch (failure) {
      setError(messageOf(failure))
    }
  }
  return (
    <>
      {tags.length > 0 && (
        <ul className="tags">
          {tags.map(tag => (
            <li key={tag} className="tag">
              <span dir="auto">{tag}</span>
              {onRemove && (
                <AriaButton
                  className="tag-remove"
                  aria-label={t('tags.remove', { name: tag })}
                  onPress={() => void onRemove(tag).catch(failure => toast(messageOf(failure)))}
                >
                  <Icon name="x" size={12} />
                </AriaButton>
              )}
            </li>
          ))}
        </ul>
      )}
      {onAdd &&
        (text === undefined ? (
          <Button look="quiet" icon="plus" onPress={() => setText('')}>
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
              onKeyDown={event => event.key === 'Escape' && setText(undefined)}
            />
            <div className="actions">
              <Button type="submit">{t('tags.addNow')}</Button>
              <Button look="quiet" onPress={() => setText(undefined)}>
                {t('close')}
              </Button>
            </div>
          </Form>
        ))}
    </>
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
