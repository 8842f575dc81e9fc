import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components/Menu'
import { Button, IconButton } from '../../components/controls.tsx'
import { copyText } from '../../components/copy-text.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { ActionDialog, useParts } from '../../components/part-slots.tsx'
import { refresh } from '../../components/resource-dialogs.tsx'
import { toast } from '../../components/toasts.tsx'
import { api, urlOf } from '../../lib/api.ts'
import type { Contribution } from '../../lib/contributions.ts'
import { t } from '../../lib/i18n.ts'
import { messageOf } from '../../lib/messages.ts'
import { deleting, queries } from '../../lib/queries.ts'
import { useSession } from '../../lib/session.ts'
import { restore, trash } from '../../lib/trash.ts'
import { mayDiscard } from '../../lib/unsaved.ts'
import type { ViewedThing } from '../../viewers/host.ts'
import type { Dataset } from './dataset-data.ts'

/** Follow and delete. Moving to the trash offers an undo; permanent deletion requires confirmation. */
export const DatasetActions = ({
  dataset: { id, name, following, spaces, trashedAt },
  rights,
  canFollow,
  thing,
}: {
  readonly dataset: Dataset
  readonly rights: ReadonlySet<string>
  readonly canFollow: boolean
  readonly thing: ViewedThing
}) => {
  const actions = useParts('action', thing)
  const [action, setAction] = useState<Contribution>()
  const session = useSession()
  const navigate = useNavigate()
  const [isAsking, setAsking] = useState(false)
  const isTrashed = trashedAt !== null
  const goesToTrash = session?.capabilities.trash.datasets !== null && !isTrashed
  const remove = async (): Promise<void> => {
    if (!(await mayDiscard())) return
    const of = { kind: 'dataset', id } as const
    await (goesToTrash ? trash(of) : deleting(id, () => api('DELETE /api/datasets/{id}', { path: { id } })))
    await navigate({ to: (spaces[0] ? `/spaces/${spaces[0].id}` : '/datasets') as never, ignoreBlocker: true })
    queries.removeQueries({ queryKey: ['dataset', id] })
    void refresh('dataset')
    toast(
      t(goesToTrash ? 'dataset.trashed' : 'dataset.deleted', { name }),
      goesToTrash
        ? {
            label: t('undo'),
            run: () =>
              void restore(of)
                .then(() => navigate({ to: `/datasets/${id}` as never }))
                .catch(error => toast(messageOf(error))),
          }
        : undefined,
    )
  }
  const follow = async (): Promise<void> => {
    const show = (isFollowed: boolean): void =>
      void queries.setQueryData<Dataset>(['dataset', id], last => last && { ...last, following: isFollowed })
    show(!following)
    try {
      if (following) await api('POST /api/datasets/{id}/unfollow', { path: { id } })
      else await api('POST /api/datasets/{id}/follow', { path: { id } })
    } catch (error) {
      show(following)
      toast(messageOf(error))
    }
  }
  return (
    <>
      {canFollow && !isTrashed && <Button onPress={() => void follow()}>{t(following ? 'dataset.unfollow' : 'dataset.follow')}</Button>}
      <MenuTrigger>
        <IconButton icon="ellipsis" label={t('dataset.more')} />
        <Popover className="popover" placement="bottom end">
          <Menu
            onAction={what => {
              if (what === 'link') void copyText(new URL(urlOf(`/datasets/${id}`), location.href).href, t('copied'))
              else if (what !== 'delete') setAction(actions.find(one => one.id === what))
              else if (goesToTrash) void remove().catch(error => toast(messageOf(error)))
              else setAsking(true)
            }}
          >
            <MenuItem id="link" className="menu-item">
              <Icon name="copy" />
              {t('dataset.copyLink')}
            </MenuItem>
            {actions.map(one => (
              <MenuItem key={one.id} id={one.id} className="menu-item">
                {one.title}
              </MenuItem>
            ))}
            {rights.has('DeleteDataset') && (
              <MenuItem id="delete" className="menu-item destroys">
                <Icon name="trash" />
                {t(isTrashed ? 'trash.delete' : 'dataset.deleteDataset')}
              </MenuItem>
            )}
          </Menu>
        </Popover>
      </MenuTrigger>
      {action && <ActionDialog contribution={action} thing={thing} onClose={() => setAction(undefined)} />}
      {isAsking && (
        <FormDialog
          title={t('dataset.delete.one', { name })}
          action={t(isTrashed ? 'trash.delete' : 'dataset.deleteDataset')}
          destroys
          isOpen
          onClose={() => setAsking(false)}
          onSubmit={remove}
        >
          <p>{t('dataset.delete.whole')}</p>
        </FormDialog>
      )}
    </>
  )
}
