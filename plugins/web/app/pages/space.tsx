import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Button } from '../components/controls.tsx'
import { Empty, FactLine, FailurePage, Loading, PageTitle } from '../components/page-parts.tsx'
import { addToSpace, type ListPlace, useResourceActions } from '../components/resource-actions.tsx'
import { CreateDialog, PickDialog } from '../components/resource-dialogs.tsx'
import { ResourceListView } from '../components/resource-list.tsx'
import { Created, Margin, ThingMenu } from '../components/thing-parts.tsx'
import { api, apiPage } from '../lib/api.ts'
import { number } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { type Listed, pathTo, sources, useResourceList, useRights } from '../lib/resources.ts'

const noSignal = new AbortController().signal

/** How many members a space has, as far as a page of them tells. */
const useMembers = (id: string): string | undefined => {
  const queryFn = async () => {
    const { rows, next } = await apiPage('GET /api/spaces/{id}/members', { path: { id }, query: { limit: 100 } })
    return next ? t('space.manyMembers') : t('space.members', { count: rows.length, number: number(rows.length) })
  }
  return useQuery({ queryKey: ['space', id, 'members-count'], queryFn, retry: false }).data
}

export const SpacePage = () => {
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string }
  const { data, error, refetch } = useQuery({ queryKey: ['space', id], queryFn: () => api('GET /api/spaces/{id}', { path: { id } }) })
  const rights = useRights('space', id)
  if (error) return <FailurePage error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  return <Space space={{ kind: 'space', thumbnail: null, rights, ...data }} />
}

const Space = ({ space }: { readonly space: Listed }) => {
  const { id, name, description, created, rights } = space
  const { tab = 'datasets' } = useSearch({ strict: false }) as { readonly tab?: string }
  const kind = tab === 'collections' ? 'collection' : 'dataset'
  const navigate = useNavigate()
  const place: ListPlace = { kind: 'space', id, name, rights }
  const { actions, remove, edit, dialog, show } = useResourceActions(place)
  const members = useMembers(id)
  const list = useResourceList(
    [kind, 'list', 'space', id],
    kind === 'dataset' ? sources.datasetsOfSpace(id) : sources.collectionsOfSpace(id),
  )
  const close = (): void => show(undefined)
  const create = (): void =>
    show(
      <CreateDialog
        kind={kind}
        place={{ space: id }}
        onClose={close}
        onCreated={made => void navigate({ to: pathTo(kind, made) as never })}
      />,
    )
  const add = (): void =>
    show(
      <PickDialog
        title={t(`place.add.${kind}`)}
        kind={kind}
        find={async text =>
          (await (kind === 'dataset' ? sources.datasets(text, true) : sources.collections(text, true))({ limit: 50 }, noSignal)).rows
        }
        onPick={row => addToSpace(row, space)}
        onClose={close}
      />,
    )
  const canCreate = rights.includes(kind === 'dataset' ? 'CreateDataset' : 'CreateCollection') && rights.includes('AddResourceToSpace')
  return (
    <>
      <div className="page-head-bar">
        <PageTitle name={name} path={[{ name: t('explore.space'), to: '/spaces' }]}>
          <FactLine facts={[members, <Created key="created" of={created} />]} />
        </PageTitle>
        <ThingMenu of={space} onEdit={() => edit(space)} onDelete={() => remove(space, () => void navigate({ to: '/spaces' }))} />
      </div>
      <div className="with-margin">
        <div>
          <nav aria-label={t('space.contents')}>
            <ul className="tabs-list">
              {(['datasets', 'collections'] as const).map(each => (
                <li key={each}>
                  <Link
                    to="/spaces/$id"
                    params={{ id }}
                    search={{ tab: each } as never}
                    className="tab"
                    aria-current={(kind === 'dataset') === (each === 'datasets') ? 'page' : undefined}
                  >
                    {each === 'datasets' ? t('explore.dataset') : t('explore.collection')}
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
          {(canCreate || rights.includes('AddResourceToSpace')) && (
            <div className="list-bar">
              <span className="push" />
              {rights.includes('AddResourceToSpace') && <Button onPress={add}>{t(`place.add.${kind}`)}</Button>}
              {canCreate && (
                <Button look="filled" icon="plus" onPress={create}>
                  {t(`create.${kind}`)}
                </Button>
              )}
            </div>
          )}
          <ResourceListView
            label={t(`explore.${kind}`)}
            list={list}
            actions={actions}
            onDelete={remove}
            restoreKey={`space/${id}/${kind}`}
            empty={
              <Empty title={t(`space.no.${kind}`)}>
                <p>{canCreate ? t('space.fill') : t('space.empty')}</p>
              </Empty>
            }
          />
        </div>
        <Margin description={description} id={id} />
      </div>
      {dialog}
    </>
  )
}
