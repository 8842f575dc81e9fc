import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { Button } from '../components/controls.tsx'
import { Choice, FindField, likesTiles, rememberTiles, ViewToggle } from '../components/list-bar.tsx'
import { Empty, PageTitle } from '../components/page-parts.tsx'
import { useResourceActions } from '../components/resource-actions.tsx'
import { CreateDialog } from '../components/resource-dialogs.tsx'
import { ResourceListView, sortQuery, useAddressSort } from '../components/resource-list.tsx'
import { number } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { allOf, type ListedKind, pathTo, useResourceList } from '../lib/resources.ts'
import { useSession } from '../lib/session.ts'

const tabs = { dataset: '/datasets', collection: '/collections', space: '/spaces' } as const
const createRight = { dataset: 'CreateDataset', collection: 'CreateCollection', space: 'CreateSpace' } as const

interface ListSearch {
  readonly filter?: string
  readonly whose?: string
  readonly view?: string
}

const owners: ReadonlySet<string> = new Set(['mine', 'shared', 'public'])

/** A total as the server formats it: exact, or a lower bound such as "10000+". */
const totalText = (total: string): string =>
  total.endsWith('+')
    ? t('list.moreThan', { number: number(Number.parseInt(total, 10)) })
    : t('list.total', { count: Number(total), number: number(Number(total)) })

const Explore = ({ kind }: { readonly kind: ListedKind }) => {
  const search = useSearch({ strict: false }) as ListSearch
  const { filter = '', whose = '', view } = search
  const [sort, setSort] = useAddressSort()
  const session = useSession()
  const navigate = useNavigate()
  const { actions, remove, dialog, show } = useResourceActions()
  const list = useResourceList(kind, allOf[kind], {
    ...(filter === '' ? {} : { title: filter }),
    ...(owners.has(whose) ? { whose: whose as 'mine' } : {}),
    ...sortQuery(sort),
  })
  // Tiles are shown only if there are thumbnails.
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
            <option value="mine">{t('list.mine')}</option>
            <option value="shared">{t('list.shared')}</option>
            <option value="public">{t('list.public')}</option>
          </Choice>
        )}
        <span className="push faded" role="status">
          {list.total !== undefined && totalText(list.total)}
        </span>
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
        sort={sort}
        onSort={setSort}
        isTiles={isTiles}
        restoreKey={`explore/${kind}/${filter}/${whose}/${sort?.column}/${sort?.order}`}
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
