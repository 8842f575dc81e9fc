import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { Button } from '../components/controls.tsx'
import { Choice, FindField, likesTiles, rememberTiles, ViewToggle } from '../components/list-bar.tsx'
import { Empty, PageTitle } from '../components/page-parts.tsx'
import { useResourceActions } from '../components/resource-actions.tsx'
import { CreateDialog } from '../components/resource-dialogs.tsx'
import { ResourceListView } from '../components/resource-list.tsx'
import { t } from '../lib/i18n.ts'
import { type ListedKind, pathTo, sources, useResourceList } from '../lib/resources.ts'
import { useSession } from '../lib/session.ts'

const tabs = { dataset: '/datasets', collection: '/collections', space: '/spaces' } as const
const sourceOf = { dataset: sources.datasets, collection: sources.collections, space: sources.spaces } as const
const createRight = { dataset: 'CreateDataset', collection: 'CreateCollection', space: 'CreateSpace' } as const

interface ListSearch {
  readonly filter?: string
  readonly whose?: string
  readonly view?: string
}

const Explore = ({ kind }: { readonly kind: ListedKind }) => {
  const { filter = '', whose = '', view } = useSearch({ strict: false }) as ListSearch
  const session = useSession()
  const navigate = useNavigate()
  const { actions, remove, dialog, show } = useResourceActions()
  const isEditable = whose === 'editable'
  const list = useResourceList([kind, 'list', 'explore', filter, whose], sourceOf[kind](filter, isEditable))
  // Tiles only where there are pictures.
  const canTile = kind !== 'space' && (view === 'tiles' || list.rows.some(row => row.thumbnail !== null))
  const isTiles = canTile && likesTiles(view)
  const change = useCallback(
    (next: ListSearch) => void navigate({ to: '.', search: (before: ListSearch) => ({ ...before, ...next }), replace: true } as never),
    [navigate],
  )
  const find = useCallback((text: string) => change({ filter: text }), [change])
  const create = session?.user?.rights.includes(createRight[kind])
    ? () =>
        show(
          <CreateDialog kind={kind} onClose={() => show(undefined)} onCreated={id => void navigate({ to: pathTo(kind, id) as never })} />,
        )
    : undefined
  return (
    <>
      <PageTitle name={t('explore.title')} />
      <nav aria-label={t('explore.kinds')}>
        <ul className="tabs-list">
          {(Object.keys(tabs) as ListedKind[]).map(each => (
            <li key={each}>
              <Link to={tabs[each]} className="tab" aria-current={each === kind ? 'page' : undefined}>
                {t(`explore.${each}`)}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className="list-bar">
        <FindField label={t('list.find')} value={filter} onChange={find} />
        {session?.user && (
          <Choice label={t('list.whose')} value={whose} onChange={value => change({ whose: value })}>
            <option value="">{t('list.all')}</option>
            <option value="editable">{t('list.editable')}</option>
          </Choice>
        )}
        <span className="push" />
        {canTile && (
          <ViewToggle
            isTiles={isTiles}
            onChange={tiles => {
              rememberTiles(tiles)
              change({ view: tiles ? 'tiles' : 'table' })
            }}
          />
        )}
        {create && (
          <Button look="filled" icon="plus" onPress={create}>
            {t(`create.${kind}`)}
          </Button>
        )}
      </div>
      <ResourceListView
        label={t(`explore.${kind}`)}
        list={list}
        actions={actions}
        onDelete={remove}
        isTiles={isTiles}
        restoreKey={`explore/${kind}/${filter}/${whose}`}
        empty={
          filter === '' && whose === '' ? (
            <Empty title={t(`explore.no.${kind}`)}>
              <p>{session?.user ? t(`explore.about.${kind}`) : t('explore.signInToSee')}</p>
              {create && <Button onPress={create}>{t(`create.${kind}`)}</Button>}
            </Empty>
          ) : (
            <Empty title={t('list.nothingFound')}>
              <Button onPress={() => change({ filter: '', whose: '' })}>{t('list.showAll')}</Button>
            </Empty>
          )
        }
      />
      {dialog}
    </>
  )
}

export const DatasetsPage = () => <Explore key="dataset" kind="dataset" />
export const CollectionsPage = () => <Explore key="collection" kind="collection" />
export const SpacesPage = () => <Explore key="space" kind="space" />
export const ExplorePage = DatasetsPage
