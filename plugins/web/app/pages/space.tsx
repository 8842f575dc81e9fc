import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Button } from '../components/controls.tsx'
import { GoneNote } from '../components/gone-note.tsx'
import { Empty, FactLine, FailurePage, Loading, PageTitle } from '../components/page-parts.tsx'
import { addableToSpaces, addToSpace, type ListPlace, useResourceActions } from '../components/resource-actions.tsx'
import { CreateDialog, PickDialog } from '../components/resource-dialogs.tsx'
import { ResourceListView, sortQuery, useAddressSort } from '../components/resource-list.tsx'
import { Created, Margin, ThingMenu } from '../components/thing-parts.tsx'
import { api } from '../lib/api.ts'
import { number } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { isNotFound } from '../lib/messages.ts'
import { type FullSpace, pathTo, rowOf, useResourceList } from '../lib/resources.ts'
import { useSession } from '../lib/session.ts'

export const SpacePage = () => {
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string }
  const { data, error, refetch } = useQuery({
    queryKey: ['space', id],
    queryFn: async () => (await api('GET /api/spaces/{id}', { path: { id }, query: { view: 'full' } })) as FullSpace,
  })
  if (error && !data) return <FailurePage error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  const isGone = isNotFound(error)
  return <Space key={id} space={isGone ? { ...data, rights: [] } : data} isGone={isGone} />
}

const Space = ({ space, isGone }: { readonly space: FullSpace; readonly isGone: boolean }) => {
  const { id, name, description, created, rights, counts, author } = space
  const row = rowOf(space)
  const { tab = 'datasets' } = useSearch({ strict: false }) as { readonly tab?: string }
  const kind = tab === 'collections' ? 'collection' : 'dataset'
  const navigate = useNavigate()
  const place: ListPlace = { kind: 'space', id, name, rights }
  const { actions, remove, edit, dialog, show } = useResourceActions(place)
  const [sort, setSort] = useAddressSort()
  const address = kind === 'dataset' ? 'GET /api/spaces/{id}/datasets' : 'GET /api/spaces/{id}/collections'
  const list = useResourceList(kind, { address, id }, sortQuery(sort))
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
        from={addableToSpaces(kind)}
        onPick={picked => addToSpace(picked, space)}
        onClose={close}
      />,
    )
  const mayCreate = useSession()?.user?.rights.includes(kind === 'dataset' ? 'CreateDataset' : 'CreateCollection') ?? false
  const canCreate = mayCreate && rights.includes('AddResourceToSpace')
  return (
    <>
      <div className="page-head-bar">
        <PageTitle name={name} path={[{ name: t('explore.space'), to: '/spaces' }]}>
          <FactLine
            facts={[
              t('space.members', { count: counts.members, number: number(counts.members) }),
              t('collection.datasets', { count: counts.datasets, number: number(counts.datasets) }),
              author.fullName,
              <Created key="created" of={created} />,
            ]}
          />
        </PageTitle>
        <ThingMenu of={row} onEdit={() => edit(row)} onDelete={() => remove(row, () => void navigate({ to: '/spaces' }))} />
      </div>
      {isGone && <GoneNote />}
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
            list={isGone ? { ...list, error: null } : list}
            sort={sort}
            onSort={setSort}
            isCompact
            actions={actions}
            onDelete={remove}
            restoreKey={`space/${id}/${kind}/${sort?.column}/${sort?.order}`}
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
