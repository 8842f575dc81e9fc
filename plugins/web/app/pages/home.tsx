import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from '../components/controls.tsx'
import { Icon } from '../components/icon.tsx'
import type { IconName } from '../components/icon-names.ts'
import { late } from '../components/late.tsx'
import { DotProgress, Empty, FactLine, Failure, Loading, PageTitle, Time } from '../components/page-parts.tsx'
import { useResourceActions } from '../components/resource-actions.tsx'
import { CreateDialog } from '../components/resource-dialogs.tsx'
import { Sanitized } from '../components/sanitized.tsx'
import { api } from '../lib/api.ts'
import { bytes, number, storageText } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { useRecent } from '../lib/recent.ts'
import { allOf, type ListedKind, type ListQuery, pathTo, useResourceList } from '../lib/resources.ts'
import { type Session, useSession } from '../lib/session.ts'

const icons: Readonly<Record<string, IconName>> = { dataset: 'database', collection: 'library', space: 'users', file: 'file' }

const Invitations = late(async () => (await import('./home/invitations.tsx')).Invitations)

export const HomePage = () => {
  const session = useSession()
  if (!session) return <Loading />
  return session.user ? (
    <OwnHome user={session.user} isAccessPending={session.capabilities.accessOrigin === 'pending'} />
  ) : (
    <StrangersHome session={session} />
  )
}

const Counts = () => {
  const { data } = useQuery({ queryKey: ['status'], queryFn: () => api('GET /api/status') })
  if (!data || data.counts.datasets + data.counts.collections + data.counts.spaces === 0) return null
  const { datasets, files, bytes: size, collections, spaces } = data.counts
  return (
    <FactLine
      facts={[
        t('home.datasets', { count: datasets, number: number(datasets) }),
        t('home.files', { count: files, number: number(files) }),
        <b key="size">{bytes(size)}</b>,
        collections > 0 && t('home.collections', { count: collections, number: number(collections) }),
        spaces > 0 && t('home.spaces', { count: spaces, number: number(spaces) }),
      ]}
    />
  )
}

const Welcome = ({ html }: { readonly html: string }) =>
  html === '' ? null : (
    <div className="welcome-text">
      <Sanitized html={html} />
    </div>
  )

const StrangersHome = ({ session: { site, capabilities } }: { readonly session: Session }) => (
  <>
    <PageTitle name={site.name} />
    <Welcome html={site.welcome} />
    {capabilities.setupPending && (
      <Empty title={t('welcome.title')}>
        <p>{t('welcome.openLink')}</p>
        <p className="faded">{t('welcome.whyLink')}</p>
      </Empty>
    )}
    {!capabilities.setupPending && capabilities.private && (
      <Empty title={t('home.private')}>
        <p>{t('home.privateText')}</p>
        <Link to="/login" className="button">
          {t('signIn')}
        </Link>
      </Empty>
    )}
    {!capabilities.setupPending && !capabilities.private && (
      <>
        <Counts />
        <NewestDatasets />
      </>
    )}
  </>
)

const NewestDatasets = () => (
  <Box title={t('home.newest')} more="/datasets">
    <ShortList kind="dataset" none={<p className="faded">{t('explore.no.dataset')}</p>} />
  </Box>
)

const Box = ({
  title,
  more,
  search = {},
  children,
}: {
  readonly title: string
  readonly more?: '/datasets' | '/spaces'
  readonly search?: Readonly<Record<string, string>>
  readonly children: ReactNode
}) => (
  <section>
    <div className="box-head">
      <h2 className="section-title">{title}</h2>
      {more !== undefined && (
        <Link to={more} search={search as never} className="button quiet" aria-label={t('home.allOf', { title })}>
          {t('home.all')}
        </Link>
      )}
    </div>
    {children}
  </section>
)

const Line = ({
  kind,
  id,
  name,
  children,
}: {
  readonly kind: string
  readonly id: string
  readonly name: string
  readonly children?: ReactNode
}) => (
  <li>
    <div className="list-line">
      <span className="list-name">
        <Icon name={icons[kind] ?? 'file'} />
        <Link to={pathTo(kind, id) as never}>{name}</Link>
      </span>
      {children}
    </div>
  </li>
)

const ShortList = ({ kind, query = {}, none }: { readonly kind: ListedKind; readonly query?: ListQuery; readonly none: ReactNode }) => {
  const list = useResourceList(kind, allOf[kind], { limit: 8, ...query })
  if (list.error) return <Failure error={list.error} retry={list.retry} />
  if (list.isLoading) return <Loading />
  if (list.rows.length === 0) return <>{none}</>
  return (
    <ul className="plain-list">
      {list.rows.slice(0, 8).map(row => (
        <Line key={row.id} kind={kind} id={row.id} name={row.name}>
          <span className="faded">
            <Time of={query.sort === 'modified' ? row.modified : row.created} />
          </span>
        </Line>
      ))}
    </ul>
  )
}

const OwnHome = ({ user, isAccessPending }: { readonly user: NonNullable<Session['user']>; readonly isAccessPending: boolean }) => {
  const navigate = useNavigate()
  const { dialog, show } = useResourceActions()
  const canCreate = user.rights.includes('CreateDataset')
  const create = (): void =>
    show(
      <CreateDialog
        kind="dataset"
        onClose={() => show(undefined)}
        onCreated={id => void navigate({ to: pathTo('dataset', id) as never })}
      />,
    )
  return (
    <>
      <div className="page-head-bar">
        <PageTitle name={t('home.title')}>
          <FactLine facts={[user.storage && storageText(user.storage)]} />
        </PageTitle>
        {canCreate && (
          <Button look="filled" icon="plus" onPress={create}>
            {t('create.dataset')}
          </Button>
        )}
      </div>
      {isAccessPending && user.status === 'Admin' && (
        <Empty title={t('readAccess.pendingTitle')}>
          <p>{t('readAccess.pending')}</p>
          <Link to="/admin/access" className="button">
            {t('readAccess.pendingLink')}
          </Link>
        </Empty>
      )}
      {user.counts.invitations ? <Invitations /> : null}
      <div className="columns">
        <RecentlyUsed user={user.id} />
        <Box title={t('home.mine')} more="/datasets" search={{ whose: 'mine' }}>
          <ShortList
            kind="dataset"
            query={{ whose: 'mine', sort: 'modified', order: 'desc' }}
            none={
              <Empty title={t('home.noneOfMine')}>
                <p>{t('explore.about.dataset')}</p>
                {canCreate && (
                  <Link to="/welcome" className="button">
                    {t('welcome.sample')}
                  </Link>
                )}
              </Empty>
            }
          />
        </Box>
        <Box title={t('home.shared')} more="/datasets" search={{ whose: 'shared' }}>
          <ShortList
            kind="dataset"
            query={{ whose: 'shared', sort: 'modified', order: 'desc' }}
            none={<p className="faded">{t('home.noneShared')}</p>}
          />
        </Box>
        <Box title={t('home.spacesTitle')} more="/spaces">
          <ShortList kind="space" query={{ sort: 'name', order: 'asc' }} none={<p className="faded">{t('explore.no.space')}</p>} />
        </Box>
        <NewestDatasets />
        {user.status === 'Admin' && <Extractions />}
      </div>
      {dialog}
    </>
  )
}

const RecentlyUsed = ({ user }: { readonly user: string }) => {
  const recent = useRecent(user)
  if (recent.length === 0) return null
  return (
    <Box title={t('home.recent')}>
      <ul className="plain-list">
        {recent.slice(0, 8).map(({ kind, id, name }) => (
          <Line key={id} kind={kind} id={id} name={name} />
        ))}
      </ul>
    </Box>
  )
}

/** The server lists only the newest hundred; there may be more. */
const maxListed = 100

/** Running and failed extractions. Server admins see those of all users. */
const Extractions = () => {
  const pending = useQuery({ queryKey: ['job', 'list', 'pending'], queryFn: () => api('GET /api/extractions/pending') })
  const failed = useQuery({ queryKey: ['job', 'list', 'failed'], queryFn: () => api('GET /api/extractions/failed') })
  const waiting = pending.data?.length ?? 0
  const broken = failed.data ?? []
  if (waiting === 0 && broken.length === 0) return null
  return (
    <Box title={t('home.processing')}>
      {waiting > 0 && (
        <>
          <DotProgress label={t('home.processing')} />
          <p className="at-work">
            {t('home.pending', { count: waiting, number: waiting < maxListed ? number(waiting) : `${number(waiting)}+` })}
          </p>
        </>
      )}
      {broken.length > 0 && (
        <ul className="plain-list" aria-label={t('failedExtractions')}>
          {broken.slice(0, 5).map(run => (
            <li key={`${run.id}${run.file_id}`}>
              <div className="list-line">
                <span className="failed">{t('home.failedLine', { extractor: run.extractor_id })}</span>
                <RunSubject kind={run.resource_type === 'dataset' ? 'dataset' : 'file'} id={run.file_id} />
                <span className="faded">
                  <Time of={run.start} />
                </span>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Box>
  )
}

/** The name of the file or dataset that an extractor was run on; its identifier once deleted. */
const RunSubject = ({ kind, id }: { readonly kind: 'dataset' | 'file'; readonly id: string }) => {
  const { data } = useQuery({
    queryKey: [kind, id, 'name'],
    queryFn: async ({ signal }) => {
      const input = { path: { id }, query: { view: 'full' }, signal } as const
      const { name } = (await (kind === 'dataset'
        ? api('GET /api/datasets/{id}', input)
        : api('GET /api/files/{id}/metadata', input))) as Named
      return name
    },
    retry: false,
  })
  return (
    <Link to={pathTo(kind, id) as never} dir="auto" className={data === undefined ? 'mono' : ''}>
      {data ?? id}
    </Link>
  )
}

interface Named {
  readonly name: string
}
