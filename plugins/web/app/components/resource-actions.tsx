import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useCallback, useState } from 'react'
import { api } from '../lib/api.ts'
import { t } from '../lib/i18n.ts'
import { editable, type Listed, pathTo, type Source } from '../lib/resources.ts'
import { currentSession, useSession } from '../lib/session.ts'
import type { GridAction } from './grid-menu.tsx'
import { DeleteDialog, EditDialog, moveToTrash, PickDialog, refresh } from './resource-dialogs.tsx'
import { toast, toastFailure } from './toasts.tsx'

/** The space or collection whose page lists a resource. */
export interface ListPlace {
  readonly kind: 'space' | 'collection'
  readonly id: string
  readonly name: string
  readonly rights: readonly string[]
}

interface ResourceActions {
  readonly actions: ((row: Listed) => readonly GridAction[]) | undefined
  readonly remove: (row: Listed, onDeleted?: () => void) => void
  readonly edit: (row: Listed) => void
  /** Has to be drawn by the page. */
  readonly dialog: ReactNode
  readonly show: (dialog: ReactNode) => void
}

const editRight: Readonly<Record<Listed['kind'], string>> = { dataset: 'EditDataset', collection: 'EditCollection', space: 'EditSpace' }
const deleteRight: Readonly<Record<Listed['kind'], string>> = {
  dataset: 'DeleteDataset',
  collection: 'DeleteCollection',
  space: 'DeleteSpace',
}

type Moved = Pick<Listed, 'kind' | 'id' | 'name' | 'places'>

/** Adds a dataset or collection to a collection, and offers to undo it unless it was there already. */
export const addToCollection = async (row: Moved, to: Pick<Listed, 'id' | 'name'>): Promise<void> => {
  const isDataset = row.kind === 'dataset'
  if (isDataset) await api('POST /api/collections/{id}/datasets/{dataset}', { path: { id: to.id, dataset: row.id } })
  else await api('POST /api/collections/{id}/addSubCollection/{child}', { path: { id: to.id, child: row.id } })
  await sayAdded(row, to, removeFromCollection)
}

const sayAdded = async (row: Moved, to: Pick<Listed, 'id' | 'name'>, takeOut: typeof removeFromSpace): Promise<void> => {
  await refreshPlaces(row)
  const revert = async (): Promise<void> => {
    await takeOut(row, to)
    await refreshPlaces(row)
  }
  const undo = { label: t('undo'), run: () => void revert().catch(toastFailure) }
  toast(t('place.added', { name: row.name, place: to.name }), row.places.includes(to.id) ? undefined : undo)
}

const removeFromCollection = async (row: Pick<Listed, 'kind' | 'id'>, from: Pick<Listed, 'id'>): Promise<void> => {
  if (row.kind === 'dataset') await api('DELETE /api/collections/{id}/datasets/{dataset}', { path: { id: from.id, dataset: row.id } })
  else await api('POST /api/collections/{id}/removeSubCollection/{child}', { path: { id: from.id, child: row.id } })
}

/** Adds a dataset or collection to a space, and offers to undo it unless it was there already. */
export const addToSpace = async (row: Moved, to: Pick<Listed, 'id' | 'name'>): Promise<void> => {
  if (row.kind === 'dataset') await api('POST /api/spaces/{id}/addDatasetToSpace/{dataset}', { path: { id: to.id, dataset: row.id } })
  else await api('POST /api/spaces/{id}/addCollectionToSpace/{collection}', { path: { id: to.id, collection: row.id } })
  await sayAdded(row, to, removeFromSpace)
}

const removeFromSpace = async (row: Pick<Listed, 'kind' | 'id'>, from: Pick<Listed, 'id'>): Promise<void> => {
  if (row.kind === 'dataset') await api('POST /api/spaces/{id}/removeDataset/{dataset}', { path: { id: from.id, dataset: row.id } })
  else
    await api('POST /api/spaces/{id}/removeCollection/{collection}', {
      path: { id: from.id, collection: row.id },
      query: { removeDatasets: false },
    })
}

const refreshPlaces = ({ kind, id }: Pick<Listed, 'kind' | 'id'>): Promise<void> => refresh(kind, id)

/** Only the owner of a resource adds it to spaces. */
const mayAddToSpaces = ({ authorId }: Listed): boolean => {
  const user = currentSession()?.user
  return user != null && (user.superAdmin || user.id === authorId)
}

/** What the caller may add to a space; see `mayAddToSpaces`. */
export const addableToSpaces = (kind: 'dataset' | 'collection'): Source =>
  currentSession()?.user?.superAdmin ? editable[kind] : { ...editable[kind], whose: 'mine' }

const takeOut = async (row: Listed, place: ListPlace): Promise<void> => {
  const isSpace = place.kind === 'space'
  await (isSpace ? removeFromSpace(row, place) : removeFromCollection(row, place))
  await refreshPlaces(row)
  const outside = { ...row, places: row.places.filter(id => id !== place.id) }
  const undo = {
    label: t('undo'),
    run: () => void (isSpace ? addToSpace(outside, place) : addToCollection(outside, place)).catch(toastFailure),
  }
  const canPutBack = isSpace
    ? mayAddToSpaces(row)
    : place.rights.includes('AddResourceToCollection') && row.rights.includes(editRight[row.kind])
  toast(t('place.removed', { name: row.name, place: place.name }), canPutBack ? undo : undefined)
}

/** The actions for the rows of a list, by the caller's rights on each. */
export const useResourceActions = (place?: ListPlace): ResourceActions => {
  const session = useSession()
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<ReactNode>()
  const trash = session?.capabilities.trash
  const close = useCallback(() => setDialog(undefined), [])

  const remove = useCallback(
    (row: Listed, onDeleted?: () => void): void => {
      if (!row.rights.includes(deleteRight[row.kind])) return
      const { kind, isTrashed } = row
      const hasTrash = kind === 'dataset' ? trash?.datasets != null : trash?.collections != null
      if (kind !== 'space' && hasTrash && !isTrashed)
        void moveToTrash({ ...row, kind })
          .then(onDeleted)
          .catch(toastFailure)
      else setDialog(<DeleteDialog of={row} onClose={close} onDeleted={onDeleted} />)
    },
    [trash, close],
  )

  const edit = useCallback((row: Listed): void => setDialog(<EditDialog of={row} onClose={close} />), [close])

  const actionsOf = useCallback(
    (row: Listed): readonly GridAction[] => {
      const { kind, id } = row
      const takesRight = place?.kind === 'space' ? 'RemoveResourceFromSpace' : 'RemoveResourceFromCollection'
      const canTake = place?.rights.includes(takesRight) ?? false
      const pick = (title: string, into: 'collection' | 'space'): void =>
        setDialog(
          <PickDialog
            title={title}
            kind={into}
            from={editable[into]}
            onPick={to => (into === 'space' ? addToSpace(row, to) : addToCollection(row, to))}
            onClose={close}
          />,
        )
      return [
        { id: 'open', label: t('open'), run: () => void navigate({ to: pathTo(kind, id) as never }) },
        ...(row.rights.includes(editRight[kind])
          ? [{ id: 'edit', label: t(`edit.${kind}`), icon: 'pencil' as const, run: () => edit(row) }]
          : []),
        ...(kind !== 'space' && row.rights.includes(editRight[kind])
          ? [
              {
                id: 'to-collection',
                label: t('place.toCollection'),
                icon: 'library' as const,
                startsGroup: true,
                run: () => pick(t('place.toCollection'), 'collection'),
              },
            ]
          : []),
        ...(kind !== 'space' && mayAddToSpaces(row)
          ? [{ id: 'to-space', label: t('place.toSpace'), icon: 'users' as const, run: () => pick(t('place.toSpace'), 'space') }]
          : []),
        ...(place && canTake
          ? [
              {
                id: 'take-out',
                label: t('place.takeOut', { place: place.name }),
                icon: 'x' as const,
                run: () => void takeOut(row, place).catch(toastFailure),
              },
            ]
          : []),
        ...(row.rights.includes(deleteRight[kind])
          ? [
              {
                id: 'delete',
                label: t(`delete.${kind}`),
                icon: 'trash' as const,
                destroys: true,
                startsGroup: true,
                run: () => remove(row),
              },
            ]
          : []),
      ]
    },
    [place, navigate, edit, remove, close],
  )
  return { actions: session?.user ? actionsOf : undefined, remove, edit, dialog, show: setDialog }
}
