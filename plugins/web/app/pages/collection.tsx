import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { CollectionTree, useChildren } from '../components/collection-tree.tsx'
import { Button } from '../components/controls.tsx'
import { Empty, FactLine, FailurePage, Loading, PageTitle, type PathStep } from '../components/page-parts.tsx'
import { addToCollection, type ListPlace, useResourceActions } from '../components/resource-actions.tsx'
import { CreateDialog, PickDialog } from '../components/resource-dialogs.tsx'
import { ResourceListView } from '../components/resource-list.tsx'
import { Created, Margin, ThingMenu } from '../components/thing-parts.tsx'
import { api } from '../lib/api.ts'
import { number } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import {
  type CollectionDetails,
  childRow,
  type Listed,
  type ListedKind,
  pathTo,
  sources,
  useResourceList,
  useRights,
} from '../lib/resources.ts'

const noSignal = new AbortController().signal

export const CollectionPage = () => {
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string }
  const queryFn = () => api('GET /api/collections/{id}', { path: { id } })
  const { data, error, refetch } = useQuery({ queryKey: ['collection', id], queryFn })
  const rights = useRights('collection', id)
  if (error) return <FailurePage error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  return <Collection key={id} collection={{ ...childRow(data), rights }} details={data} />
}

/** Where a collection lies: below its first parent, if it has one. */
const useCollectionPath = (id: string): readonly PathStep[] => {
  const queryFn = () => api('GET /api/collections/{id}/getParentCollections', { path: { id } })
  const { data } = useQuery({ queryKey: ['collection', id, 'parents'], queryFn })
  const [parent] = data ?? []
  return [
    { name: t('explore.collection'), to: '/collections' },
    ...(parent ? [{ name: parent.name, to: pathTo('collection', parent.id) }] : []),
  ]
}

const Collection = ({ collection, details }: { readonly collection: Listed; readonly details: CollectionDetails }) => {
  const { id, name, description, created, rights } = collection
  const navigate = useNavigate()
  const path = useCollectionPath(id)
  const place: ListPlace = { kind: 'collection', id, name, rights }
  const { actions, remove, edit, dialog, show } = useResourceActions(place)
  const list = useResourceList(['dataset', 'list', 'collection', id], sources.datasetsOfCollection(id))
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
        find={async text => (await sources.datasets(text, true)({ limit: 50 }, noSignal)).rows}
        onPick={row => addToCollection(row, collection)}
        onClose={close}
      />,
    )
  const canAdd = rights.includes('AddResourceToCollection')
  const datasets = Number(details.datasetCount)
  const nested = Number(details.childCollectionsCount)
  return (
    <>
      <div className="page-head-bar">
        <PageTitle name={name} path={path}>
          <FactLine
            facts={[
              t('collection.datasets', { count: datasets, number: number(datasets) }),
              nested > 0 && t('collection.collections', { count: nested, number: number(nested) }),
              <Created key="created" of={created} />,
            ]}
          />
        </PageTitle>
        <ThingMenu
          of={collection}
          onEdit={() => edit(collection)}
          onDelete={() => remove(collection, () => void navigate({ to: '/collections' }))}
        />
      </div>
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
              list={list}
              actions={actions}
              onDelete={remove}
              restoreKey={`collection/${id}`}
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
