import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Input, urlOf } from '../lib/api.ts'
import { startDownload } from '../lib/downloads.ts'
import { bytes, number } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { messageOf } from '../lib/messages.ts'
import { Button, TextField } from './controls.tsx'
import { Dialog, FormDialog } from './dialog.tsx'
import { DotProgress } from './page-parts.tsx'
import { namesIn } from './tag-list.tsx'

type NewArchive = NonNullable<Input<'POST /api/archives'>['body']>

interface Member {
  readonly kind: NewArchive['resources'][number]['type']
  readonly id: string
}

/** Shows the size of a ZIP of selected resources before it is downloaded. */
export const ArchiveDialog = ({
  dataset,
  about,
  members,
  onClose,
}: {
  /** Paths in the ZIP are relative to it, where all members are in one dataset. */
  readonly dataset?: string
  /** Identifies the selection. */
  readonly about: unknown
  readonly members: () => Promise<readonly Member[]>
  readonly onClose: () => void
}) => {
  const { data, error } = useQuery({
    queryKey: ['archive', about],
    queryFn: async ({ signal }) => {
      const resources = (await members()).map(({ kind, id }) => ({ type: kind, id }))
      return api('POST /api/archives', { body: { resources, ...(dataset === undefined ? {} : { dataset }) }, signal })
    },
    gcTime: 0,
    retry: false,
  })
  return (
    <Dialog title={t('dataset.download.chosen')} isOpen onClose={onClose}>
      {error ? (
        <p role="alert" className="error-text">
          {messageOf(error)}
        </p>
      ) : data ? (
        <p>{t('dataset.download.size', { count: data.files, number: number(data.files), size: bytes(data.size) })}</p>
      ) : (
        <DotProgress label={t('loading')} />
      )}
      <div className="actions end">
        <Button onPress={onClose}>{t('cancel')}</Button>
        <Button
          look="filled"
          icon="download"
          isDisabled={!data}
          onPress={() => {
            if (data) startDownload(urlOf(`/api/archives/${data.id}`))
            onClose()
          }}
        >
          {t('dataset.download.action')}
        </Button>
      </div>
    </Dialog>
  )
}

/** Asks for tags to add to selected resources, or to remove. */
export const TagDialog = ({
  title,
  isAdding,
  onTag,
  onClose,
}: {
  readonly title: string
  readonly isAdding: boolean
  readonly onTag: (tags: readonly string[]) => void
  readonly onClose: () => void
}) => {
  const [text, setText] = useState('')
  return (
    <FormDialog
      title={title}
      action={t(isAdding ? 'tags.addNow' : 'tags.removeNow')}
      isOpen
      onClose={onClose}
      onSubmit={async () => onTag(namesIn(text))}
    >
      <TextField label={t('tags.label')} help={t('tags.help')} value={text} onChange={setText} isRequired autoFocus />
    </FormDialog>
  )
}
