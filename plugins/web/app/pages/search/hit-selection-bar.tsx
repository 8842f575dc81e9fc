import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { GridAction } from '../../components/grid-menu.tsx'
import { SelectionBar } from '../../components/selection-bar.tsx'
import { useWork, WorkLine } from '../../components/work-line.tsx'
import { api, urlOf } from '../../lib/api.ts'
import { maxInArchive, startDownload } from '../../lib/downloads.ts'
import { t } from '../../lib/i18n.ts'
import { useSession } from '../../lib/session.ts'
import { changeHitTags, deleteHits } from './hit-acts.ts'
import { HitDialog, type OpenHitDialog } from './hit-dialog.tsx'
import type { SelectableHit } from './hit-selection.tsx'

const permissions = ['DownloadFiles', 'AddTag', 'DeleteTag', 'DeleteFile', 'DeleteDataset'] as const
const deleting = { file: 'DeleteFile', dataset: 'DeleteDataset' } as const
const maxChecked = 1000

/** The caller's permissions on hits, in their order; undefined until they are known. */
const usePermissions = (hits: readonly SelectableHit[]) => {
  const resources = hits.slice(0, maxChecked).map(({ kind, id }) => ({ type: kind, id }))
  const { data } = useQuery({
    queryKey: ['permissions', resources.map(({ id }) => id)],
    queryFn: ({ signal }) => api('POST /api/permissions/check', { body: { resources, permissions }, signal }),
    enabled: resources.length > 0,
    placeholderData: keepPreviousData,
  })
  return data?.map(held => new Set(held.permissions))
}

/** The actions on selected hits. An action that is refused for some of them reports it. */
export const HitSelectionBar = ({
  chosen,
  onClear,
  onChanged,
}: {
  readonly chosen: readonly SelectableHit[]
  readonly onClear: () => void
  readonly onChanged: () => void
}) => {
  const [dialog, setDialog] = useState<OpenHitDialog>()
  const { work, run } = useWork()
  const user = useSession()?.user
  const granted = usePermissions(chosen) ?? []
  const canChange = user != null && !user.isLimited
  const [only] = chosen
  const members = chosen.flatMap(hit => (hit.kind === 'collection' ? [] : [{ ...hit, kind: hit.kind }]))
  const isWithoutCollections = members.length === chosen.length
  const some = (permission: string): boolean => canChange && granted.some(each => each.has(permission))
  const canDelete = canChange && isWithoutCollections && members.some(({ kind }, at) => granted[at]?.has(deleting[kind]))

  const download = (): void => {
    if (chosen.length === 1 && only?.kind === 'file') startDownload(urlOf(`/api/files/${only.id}`))
    else setDialog({ kind: 'archive', members })
  }
  const all: readonly (GridAction | false)[] = [
    isWithoutCollections &&
      granted.length > 0 &&
      granted.every(each => each.has('DownloadFiles')) && {
        id: 'download',
        label: t('entries.download'),
        icon: 'download',
        isDisabled: chosen.length > maxInArchive,
        run: download,
      },
    some('AddTag') && { id: 'tag', label: t('entries.tag'), icon: 'tag', run: () => setDialog({ kind: 'tag', hits: chosen }) },
    canDelete && {
      id: 'delete',
      label: t('entries.delete'),
      icon: 'trash',
      destroys: true,
      run: () => setDialog({ kind: 'delete', hits: chosen }),
    },
    some('DeleteTag') && { id: 'untag', label: t('entries.untag'), icon: 'x', run: () => setDialog({ kind: 'untag', hits: chosen }) },
  ]
  const sizes = chosen.map(({ size }) => size)
  return (
    <>
      {work && <WorkLine work={work} />}
      <SelectionBar
        count={chosen.length}
        sizeBytes={sizes.every(size => size !== undefined) ? sizes.reduce((sum, size) => sum + size, 0) : undefined}
        actions={all.filter(action => action !== false)}
        onClear={onClear}
      />
      {dialog && (
        <HitDialog
          dialog={dialog}
          onClose={() => setDialog(undefined)}
          onTag={(hits, tags, isAdding) =>
            void run(t('entries.tagging'), hits.length, async (progress, signal) => {
              await changeHitTags({ hits, tags, isAdding, progress, signal })
              onChanged()
            })
          }
          onDelete={hits => {
            onClear()
            void run(t('entries.deleting'), hits.length, async (progress, signal) => {
              await deleteHits(hits, progress, signal)
              onChanged()
            })
          }}
        />
      )}
    </>
  )
}
