import { type ReactNode, useState } from 'react'
import { Form } from 'react-aria-components'
import { t } from '../lib/i18n.ts'
import { messageOf } from '../lib/messages.ts'
import { Button, IconButton, TextField } from './controls.tsx'

/** Text that can be changed where it stands. Nothing that was typed is lost when the server refuses it. */
export const EditableText = ({
  value,
  label,
  editLabel,
  isLong = false,
  isEditable,
  onSave,
  children,
}: {
  readonly value: string
  /** What the text is: "Name". */
  readonly label: string
  /** What the button does: "Rename". */
  readonly editLabel: string
  readonly isLong?: boolean
  readonly isEditable: boolean
  readonly onSave: (text: string) => Promise<unknown>
  /** How the text is shown. */
  readonly children: ReactNode
}) => {
  const [draft, setDraft] = useState<string>()
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const end = (): void => {
    setDraft(undefined)
    setError(undefined)
  }
  const save = async (): Promise<void> => {
    const text = (draft ?? '').trim()
    if (text === value.trim()) {
      end()
      return
    }
    setBusy(true)
    try {
      await onSave(text)
      end()
    } catch (failure) {
      setError(messageOf(failure))
    } finally {
      setBusy(false)
    }
  }
  if (draft === undefined)
    return (
      <div className="editable">
        {children}
        {isEditable && <IconButton icon="pencil" label={editLabel} onPress={() => setDraft(value)} />}
      </div>
    )
  return (
    <Form
      className="editable-form"
      onSubmit={event => {
        event.preventDefault()
        void save()
      }}
    >
      <TextField
        label={label}
        value={draft}
        onChange={setDraft}
        isLong={isLong}
        error={error}
        isRequired={!isLong}
        autoFocus
        onKeyDown={event => {
          if (event.key === 'Escape') end()
          else if (event.key === 'Enter' && isLong && (event.ctrlKey || event.metaKey)) void save()
        }}
      />
      <div className="actions">
        <Button type="submit" isPending={isBusy}>
          {t('edit.save')}
        </Button>
        <Button look="quiet" onPress={end}>
          {t('cancel')}
        </Button>
      </div>
    </Form>
  )
}
