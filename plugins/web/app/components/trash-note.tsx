import { useEffect, useState } from 'react'
import { t } from '../lib/i18n.ts'
import { queries } from '../lib/queries.ts'
import { regainFocus } from '../lib/regain-focus.ts'
import { restore, type Trashable } from '../lib/trash.ts'
import { Button } from './controls.tsx'
import { toast, toastFailure } from './toasts.tsx'

/** Notes that the resource of the page is in the trash, with a button to restore it. */
export const TrashNote = ({
  of,
  trashed,
}: {
  /** The resource of the page. */
  readonly of: 'dataset' | 'collection' | 'file'
  /** What has to be restored: for a file, its dataset. */
  readonly trashed: Trashable & { readonly name: string; readonly rights: readonly string[] }
}) => {
  const { kind, name, rights } = trashed
  const [isBusy, setBusy] = useState(false)
  useEffect(() => regainFocus, [])
  const takeOut = async (): Promise<void> => {
    setBusy(true)
    try {
      await restore(trashed)
      toast(t('trash.restored', { name }))
      await queries.invalidateQueries()
    } catch (error) {
      toastFailure(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div role="status" className="sheet page-note">
      <p>{t(`trash.${of}`)}</p>
      {rights.includes(kind === 'dataset' ? 'DeleteDataset' : 'DeleteCollection') && (
        <Button isPending={isBusy} onPress={() => void takeOut()}>
          {t('trash.restore')}
        </Button>
      )}
    </div>
  )
}
