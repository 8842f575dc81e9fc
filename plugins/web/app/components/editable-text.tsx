import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Form } from 'react-aria-components/Form'
import { t } from '../lib/i18n.ts'
import { messageOf } from '../lib/messages.ts'
import { TextConflict } from '../lib/save-text.ts'
import { onDiscard } from '../lib/unsaved.ts'
import { Button, IconButton, TextField } from './controls.tsx'
import { late } from './late.tsx'
import { toastFailure } from './toasts.tsx'

const dialogs = () => import('./text-dialogs.tsx')
const ConflictDialog = late(async () => (await dialogs()).ConflictDialog)
const LeaveDialog = late(async () => (await dialogs()).LeaveDialog)

/**
 * Text with inline editing. Input is kept when the server rejects it, somebody else changed the text, or it can no longer be changed; leaving the page
 * with unsaved input, signing out, or deleting its resource must be confirmed.
 */
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
  /** What the text is, such as "Name". */
  readonly label: string
  /** The label of the button, such as "Rename". */
  readonly editLabel: string
  readonly isLong?: boolean
  readonly isEditable: boolean
  /** Rejects with `TextConflict` when the text is no longer what it was before. */
  readonly onSave: (text: string, before: string) => Promise<unknown>
  /** How the text is shown. */
  readonly children: ReactNode
}) => {
  const [draft, setDraft] = useState<string>()
  const [isReturning, setReturning] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const [before, setBefore] = useState(value)
  const [theirs, setTheirs] = useState<string>()
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const isUnsaved = draft !== undefined && draft.trim() !== before.trim()
  const leaving = useBlocker({
    // Saving continues on the next page, but not after the tab is closed.
    shouldBlockFn: ({ current, next }) => isUnsaved && !isBusy && current.pathname !== next.pathname,
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  })
  const [discarding, setDiscarding] = useState<(isDiscarded: boolean) => void>()
  useEffect(() => {
    if (!isUnsaved) return undefined
    return onDiscard(() => new Promise(resolve => setDiscarding(() => resolve)))
  }, [isUnsaved])
  useEffect(() => {
    if (isUnsaved || !discarding) return
    // Saved while the user was asked.
    setDiscarding(undefined)
    discarding(true)
  }, [isUnsaved, discarding])
  const answer = (isDiscarded: boolean): void => {
    setDiscarding(undefined)
    discarding?.(isDiscarded)
    if (isDiscarded) leaving.proceed?.()
    else leaving.reset?.()
  }
  const end = (): void => {
    const focused = document.activeElement
    // Not from another part of the page, where the user may have gone during a slow save.
    setReturning(form.current?.contains(focused) || !focused?.closest('#app'))
    setDraft(undefined)
    setTheirs(undefined)
    setError(undefined)
  }
  const begin = (): void => {
    // While the server can be reached.
    void LeaveDialog.preload()
    setBefore(value)
    setDraft(value)
  }
  const save = async (instead = before): Promise<void> => {
    if (!isEditable || isBusy) return
    const text = (draft ?? '').trim()
    setTheirs(undefined)
    if (text === instead.trim()) {
      end()
      return
    }
    setBusy(true)
    try {
      await onSave(text, instead)
      end()
    } catch (failure) {
      // The page was left meanwhile.
      if (!form.current) toastFailure(failure)
      if (failure instanceof TextConflict) setTheirs(failure.theirs)
      setError(messageOf(failure))
    } finally {
      setBusy(false)
    }
  }
  if (draft === undefined)
    return (
      <div className="editable">
        {children}
        {isEditable && (
          <IconButton icon="pencil" label={editLabel} autoFocus={isReturning} onBlur={() => setReturning(false)} onPress={begin} />
        )}
      </div>
    )
  return (
    <Form
      ref={form}
      className="editable-form"
      onSubmit={event => {
        event.preventDefault()
        void save()
      }}
    >
      <TextField
        label={label}
        value={draft}
        onChange={text => {
          setDraft(text)
          setError(undefined)
        }}
        isLong={isLong}
        error={isEditable ? error : t('edit.noLonger')}
        isRequired={!isLong}
        autoFocus
        onKeyDown={event => {
          if (event.nativeEvent.isComposing) return
          if (event.key === 'Escape') end()
          else if (event.key === 'Enter' && isLong && (event.ctrlKey || event.metaKey)) void save()
        }}
      />
      <div className="actions">
        <Button type="submit" isPending={isBusy} isDisabled={!isEditable}>
          {t('edit.save')}
        </Button>
        <Button look="quiet" onPress={end}>
          {t('cancel')}
        </Button>
      </div>
      {theirs !== undefined && (
        <ConflictDialog theirs={theirs} mine={draft} onTheirs={end} onMine={() => void save(theirs)} onClose={() => setTheirs(undefined)} />
      )}
      {(leaving.status === 'blocked' || discarding) && (
        <LeaveDialog label={label} onStay={() => answer(false)} onDiscard={() => answer(true)} />
      )}
    </Form>
  )
}
