import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { api } from '../lib/api.ts'
import { t } from '../lib/i18n.ts'
import { deleting, isReloadable, queries } from '../lib/queries.ts'
import { editable, findIn, type Listed, type ListedKind, pageOf, type Source } from '../lib/resources.ts'
import { saveText, TextConflict } from '../lib/save-text.ts'
import { restore, type Trashable, trash } from '../lib/trash.ts'
import { TextField } from './controls.tsx'
import { Dialog, FormDialog } from './dialog.tsx'
import { Failure, Loading } from './page-parts.tsx'
import { ConflictDialog } from './text-dialogs.tsx'
import { toast, toastFailure } from './toasts.tsx'

/** Where a new resource is created. */
export interface NewPlace {
  readonly space?: string | undefined
  readonly collection?: string | undefined
}

/** Creates a dataset from a BagIt bag, which contains all its details. */
const createdFromBag = async (bag: File): Promise<string> => {
  const body = new FormData()
  body.append('File', bag)
  const answer = await api('POST /api/datasets/createfrombag', { body: body as never })
  return /[0-9a-f]{24}/.exec(String(answer))?.[0] ?? ''
}

const created = async (kind: ListedKind, name: string, description: string, { space, collection }: NewPlace): Promise<string> => {
  const inSpace = space === undefined || space === '' ? {} : { space }
  if (kind === 'space') return (await api('POST /api/spaces', { body: { name, description } })).id
  if (kind === 'dataset') {
    const body = { name, description, ...inSpace, ...(collection === undefined ? {} : { collection }) }
    return (await api('POST /api/datasets/createempty', { body })).id
  }
  if (collection === undefined) return (await api('POST /api/collections', { body: { name, description, ...inSpace } })).id
  const body = { name, description, parentId: collection, ...inSpace }
  return (await api('POST /api/collections/newCollectionWithParent', { body })).id
}

/**
 * Reloads what a change may have affected: lists of the kind, the resource itself, and collections and spaces, which show what is in them and in each other.
 */
export const refresh = async (kind: ListedKind, changed?: string): Promise<void> => {
  await queries.invalidateQueries({
    predicate: query => {
      const [first, second] = query.queryKey
      return (
        (first === 'collection' || first === 'space' || (first === kind && (second === 'list' || second === changed))) &&
        isReloadable(query)
      )
    },
  })
}

interface CreateDialogProps {
  readonly kind: ListedKind
  /** Fixed when the resource is created on its page; otherwise it can be chosen. */
  readonly place?: NewPlace
  readonly onClose: () => void
  readonly onCreated: (id: string) => void
}

/** Creates a dataset, collection or space. */
export const CreateDialog = ({ kind, place = {}, onClose, onCreated }: CreateDialogProps) => {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [space, setSpace] = useState('')
  const [bag, setBag] = useState<File>()
  const bagId = useId()
  const canChoose = kind !== 'space' && place.space === undefined && place.collection === undefined
  const submit = async (): Promise<void> => {
    const id = await (bag ? createdFromBag(bag) : created(kind, name.trim(), description, canChoose ? { ...place, space } : place))
    await refresh(kind)
    onCreated(id)
  }
  return (
    <FormDialog title={t(`create.${kind}`)} action={t(`create.${kind}`)} isOpen onClose={onClose} onSubmit={submit}>
      {!bag && (
        <>
          <TextField label={t('list.name')} value={name} onChange={setName} maxLength={255} isRequired autoFocus />
          <TextField label={t('list.description')} value={description} onChange={setDescription} isLong />
          {canChoose && <SpaceChoice value={space} onChange={setSpace} />}
        </>
      )}
      {kind === 'dataset' && canChoose && (
        <div className="field">
          <label htmlFor={bagId} className="label">
            {t('create.bag')}
          </label>
          <input
            id={bagId}
            type="file"
            accept=".zip,application/zip"
            aria-describedby={`${bagId}-help`}
            onChange={event => setBag(event.currentTarget.files?.[0])}
          />
          <span id={`${bagId}-help`} className="help">
            {t('create.bagHelp')}
          </span>
        </div>
      )}
    </FormDialog>
  )
}

const SpaceChoice = ({ value, onChange }: { readonly value: string; readonly onChange: (id: string) => void }) => {
  const queryFn = async () => (await pageOf(editable.space, { limit: 200, sort: 'name', order: 'asc' })).rows
  const { data } = useQuery({ queryKey: ['space', 'list', 'editable'], queryFn })
  if (!data || data.length === 0) return null
  return (
    <label className="field">
      <span className="label">{t('create.inSpace')}</span>
      <select className="select" value={value} onChange={event => onChange(event.target.value)}>
        <option value="">{t('create.noSpace')}</option>
        {data.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Changes name and description. */
export const EditDialog = ({
  of,
  onClose,
}: {
  readonly of: Pick<Listed, 'kind' | 'id' | 'name' | 'description'>
  readonly onClose: () => void
}) => {
  const [before, setBefore] = useState({ name: of.name, description: of.description })
  const [texts, setTexts] = useState(before)
  const [conflict, setConflict] = useState<TextConflict>()
  const save = async (instead: typeof before): Promise<void> => {
    try {
      for (const member of ['name', 'description'] as const)
        if (texts[member] !== instead[member]) await saveText(of, member, instead[member], texts[member].trim())
    } catch (failure) {
      if (failure instanceof TextConflict) setConflict(failure)
      throw failure
    } finally {
      await refresh(of.kind, of.id)
    }
  }
  const settled = (): typeof before => {
    const next = conflict ? { ...before, [conflict.member]: conflict.theirs } : before
    setBefore(next)
    setConflict(undefined)
    return next
  }
  return (
    <FormDialog title={t(`edit.${of.kind}`)} action={t('save')} isOpen onClose={onClose} onSubmit={() => save(before)}>
      <TextField
        label={t('list.name')}
        value={texts.name}
        onChange={name => setTexts({ ...texts, name })}
        maxLength={255}
        isRequired
        autoFocus
      />
      <TextField
        label={t('list.description')}
        value={texts.description}
        onChange={description => setTexts({ ...texts, description })}
        isLong
      />
      {conflict && (
        <ConflictDialog
          theirs={conflict.theirs}
          mine={texts[conflict.member]}
          onTheirs={() => {
            setTexts({ ...texts, [conflict.member]: conflict.theirs })
            settled()
          }}
          onMine={() => void save(settled()).then(onClose, toastFailure)}
          onClose={() => setConflict(undefined)}
        />
      )}
    </FormDialog>
  )
}

interface Deletable {
  readonly kind: ListedKind
  readonly id: string
  readonly name: string
}

const restored = async (of: Trashable): Promise<void> => {
  await restore(of)
  await refresh(of.kind, of.id)
}

const deletionOf = {
  dataset: 'DELETE /api/datasets/{id}',
  collection: 'DELETE /api/collections/{id}',
  space: 'DELETE /api/spaces/{id}',
} as const

/** Moves to the trash, and offers to undo it. */
export const moveToTrash = async (of: Trashable & Pick<Deletable, 'name'>): Promise<void> => {
  await trash(of)
  await refresh(of.kind)
  toast(t('delete.trashed', { name: of.name }), { label: t('undo'), run: () => void restored(of).catch(toastFailure) })
}

/** Number of datasets in a space. */
const contentsOf = async (id: string): Promise<string> => {
  const { total = '0' } = await pageOf({ address: 'GET /api/spaces/{id}/datasets', id }, { limit: 1, total: true })
  return total.endsWith('+') ? t('delete.manyDatasets') : t('delete.datasets', { count: Number(total) })
}

/** Confirms what cannot be undone: names the resource, and what happens to its contents. */
export const DeleteDialog = ({
  of,
  onClose,
  onDeleted,
}: {
  readonly of: Deletable
  readonly onClose: () => void
  readonly onDeleted?: (() => void) | undefined
}) => {
  const isSpace = of.kind === 'space'
  const contents = useQuery({ queryKey: [of.kind, of.id, 'contents'], queryFn: () => contentsOf(of.id), enabled: isSpace })
  const submit = async (): Promise<void> => {
    const path = { id: of.id }
    await deleting(of.id, () => api(deletionOf[of.kind], { path }))
    await refresh(of.kind)
    onDeleted?.()
  }
  return (
    <FormDialog
      title={t('delete.title', { name: of.name })}
      action={t(`delete.${of.kind}`)}
      destroys
      isOpen
      onClose={onClose}
      onSubmit={submit}
    >
      <p>{isSpace ? t('delete.spaceText', { contents: contents.data ?? '…' }) : t('delete.finalText')}</p>
    </FormDialog>
  )
}

interface PickDialogProps {
  readonly title: string
  readonly kind: ListedKind
  readonly from: Source
  readonly onPick: (row: Listed) => Promise<unknown>
  readonly onClose: () => void
}

/** Selects a resource by name. */
export const PickDialog = ({ title, kind, from, onPick, onClose }: PickDialogProps) => {
  const [text, setText] = useState('')
  const { data, error, refetch } = useQuery({
    queryKey: [kind, 'list', 'pick', title, text],
    queryFn: () => findIn(from)(text),
    placeholderData: before => before,
  })
  const [isBusy, setBusy] = useState(false)
  const pick = async (row: Listed): Promise<void> => {
    if (isBusy) return
    setBusy(true)
    try {
      await onPick(row)
      onClose()
    } catch (failure) {
      toastFailure(failure)
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <TextField label={t('list.find')} value={text} onChange={setText} autoFocus />
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <ul className="pick-list" aria-label={title}>
          {data.map(row => (
            <li key={row.id}>
              <button type="button" className="menu-item" onClick={() => void pick(row)}>
                {row.name}
              </button>
            </li>
          ))}
          {data.length === 0 && <li className="menu-item faded">{t('list.nothingFound')}</li>}
        </ul>
      )}
    </Dialog>
  )
}
