import { useState } from 'react'
import { t } from '../lib/i18n.ts'
import { EditableText } from './editable-text.tsx'

/** The description of a resource, if it has one or the caller may add one. Once shown it stays, with unsaved input. */
export const DescriptionSection = ({
  description,
  isEditable,
  onSave,
}: {
  readonly description: string
  readonly isEditable: boolean
  readonly onSave: (text: string, before: string) => Promise<unknown>
}) => {
  const [isShown, setShown] = useState(false)
  if (!isShown && (description !== '' || isEditable)) setShown(true)
  if (!isShown) return null
  return (
    <section aria-label={t('description.title')}>
      <EditableText
        value={description}
        label={t('description.title')}
        editLabel={t('description.edit')}
        isLong
        isEditable={isEditable}
        onSave={onSave}
      >
        <p className={description === '' ? 'faded' : 'description'} dir="auto">
          {description === '' ? t('description.none') : description}
        </p>
      </EditableText>
    </section>
  )
}
