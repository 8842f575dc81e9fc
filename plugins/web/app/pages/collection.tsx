import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { CollectionTree, useChildren } from '../components/collection-tree.tsx'
import { Button } from '../components/controls.tsx'
import { GoneNote } from '../components/gone-note.tsx'
import { Empty, FactLine, FailurePage, Loading, PageTitle } from '../components/page-parts.tsx'
import { addToCollection, type ListPlace, useResourceActions } from '../components/resource-actions.tsx'
import { CreateDialog, PickDialog } from '../components/resource-dialogs.tsx'
import { ResourceListView, sortQuery, useAddressSort } from '../components/resource-list.tsx'
import { Created, Margin, ThingMenu } from '../components/thing-parts.tsx'
import { TrashNote } from '../components/trash-note.tsx'
import { api } from '../lib/api.ts'
import { number } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { isNotFound } from '../lib/messages.ts'
import { editable, type FullCollection, type ListedKind, pathTo, rowOf, useResourceList } from '../lib/resources.ts'

export const CollectionPage = () => {
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string }
  const queryFn = async () => (await api('GET /api/collections/{id}', { path: { id }, query: { view: 'full' } })) as FullCollection
  const { data, error, refetch } = useQuery({ queryKey: ['collection', id], queryFn })
  if (error && !data) return <FailurePage error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  const isGone = isNotFound(error)
  return <Collection key={id} collection={isGone ? { ...data, rights: [] } : data} isGone={isGone} />
}

const Collection = ({ collection, isGone }: { readonly collection: FullCollection; readonly isGone: boolean }) => {
  const { id, name, description, created, rights, counts, author, parents, spaces } = collection
  const row = rowOf(collection)
  const navigate = useNavigate()
  const [[space], [parent]] = [spaces, parents]
  const path = [
    space ? { name: space.name, to: pathTo('space', space.id) } : { name: t('explore.collection'), to: '/collections' },
    ...(parent ? [{ name: parent.name, to: pathTo('collection', parent.id) }] : []),
  ]
  const place: ListPlace = { kind: 'collection', id, name, rights }
  const { actions, remove, edit, dialog, show } = useResourceActions(place)
  const [sort, setSort] = useAddressSort()
  const list = useResourceList('dataset', { address: 'GET /api/collections/{id}/datasets', id }, sortQuery(sort))
  const children = useChildren(id)
  const close = (): void => show(undefined)
  const create = (kind: ListedKind): void =>
    show(
      <CreateDialog
        kind={kind}
        place={{ collection: id }}
        onClose={close}
        onCreated={made => void navigate({ to: pathTo(kind, made) as never })}
      />,
    )
  const add = (): void =>
    show(
      <PickDialog
        title={t('place.add.dataset')}
        kind="dataset"
        from={editable.dataset}
        onPick={picked => addToCollection(picked, collection)}
        onClose={close}
      />,
    )
  const canAdd = rights.includes('AddResourceToCollection')
  const { datasets, collections: nested } = counts
  return (
    <>
      <div className="page-head-bar">
        <PageTitle name={name} path={path}>
          <FactLine
            facts={[
              t('collection.datasets', { count: datasets, number: number(datasets) }),
              nested > 0 && t('collection.collections', { count: nested, number: number(nested) }),
              author.fullName,
              <Created key="created" of={created} />,
            ]}
          />
        </PageTitle>
        <ThingMenu of={row} onEdit={() => edit(row)} onDelete={() => remove(row, () => void navigate({ to: '/collections' }))} />
      </div>
      {isGone && <GoneNote />}
      {!isGone && row.isTrashed && <TrashNote of="collection" trashed={{ kind: 'collection', id, name, rights }} />}
      <div className="with-margin">
        <div>
          {((children.data?.length ?? 0) > 0 || canAdd) && (
            <section>
              <div className="box-head">
                <h2 className="section-title">{t('explore.collection')}</h2>
                {canAdd && (
                  <Button look="quiet" icon="plus" onPress={() => create('collection')}>
                    {t('collection.createHere')}
                  </Button>
                )}
              </div>
              {(children.data?.length ?? 0) > 0 ? (
                <CollectionTree id={id} label={t('collection.nested', { name })} />
              ) : (
                <p className="faded">{t('collection.noNested')}</p>
              )}
            </section>
          )}
          <section>
            <div className="box-head">
              <h2 className="section-title">{t('explore.dataset')}</h2>
              {canAdd && (
                <div className="actions">
                  <Button onPress={add}>{t('place.add.dataset')}</Button>
                  <Button look="filled" icon="plus" onPress={() => create('dataset')}>
                    {t('create.dataset')}
                  </Button>
                </div>
              )}
            </div>
            <ResourceListView
              label={t('explore.dataset')}
              list={isGone ? { ...list, error: null } : list}
              sort={sort}
              onSort={setSort}
              isCompact
              actions={actions}
              onDelete={remove}
              restoreKey={`collection/${id}/${sort?.column}/${sort?.order}`}
              empty={
                <Empty title={t('collection.noDatasets')}>
                  <p>{canAdd ? t('collection.fill') : t('space.empty')}</p>
                </Empty>
              }
            />
          </section>
        </div>
        <Margin description={description} id={id} />
      </div>
      {dialog}
    </>
  )
}
